//! Host memory that large results use again. The system maps every allocation of 32 MiB or more anew, page by page, and
//! zeroes smaller ones too: a result of 64 MiB took 31 ms to copy into new memory and 9 ms into memory that was used
//! before (2 cores, 2026-11-24). So the memory of a result that is dropped stays with the context for later results.

use std::any::{Any, TypeId};
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The number of bytes from which on memory is kept. Smaller allocations cost less than looking for one that fits.
const LEAST: usize = 1 << 20;
/// The maximum number of bytes that a context keeps, unless a quarter of its byte budget is less.
pub(crate) const MOST: u64 = 512 << 20;
/// Memory that has not been used for this number of results is given back to the system.
const AGE: u64 = 16;

/// The memory of results that were dropped.
#[derive(Default)]
pub(crate) struct HostMemory(Mutex<Kept>);

/// The vectors in the order in which they were dropped.
#[derive(Default)]
struct Kept {
    vectors: Vec<Vector>,
    /// The number of results that asked for memory.
    clock: u64,
    /// The maximum number of bytes, as of the last result that asked.
    most: u64,
}

/// A vector of elements of some type.
struct Vector {
    of: TypeId,
    elements: Box<dyn Any + Send>,
    bytes: usize,
    /// The clock when the vector was dropped.
    dropped: u64,
}

impl HostMemory {
    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a vector of `len` elements with arbitrary contents, of which the caller writes every element. `budget`
    /// is the byte budget of the context.
    pub(crate) fn take<T: bytemuck::Pod + Send>(&self, len: usize, budget: u64) -> Vec<T> {
        let mut vector = self.used(len, budget).unwrap_or_else(|| bytemuck::allocation::zeroed_vec(len));
        // In tests, an element that is not written is NaN, or a huge integer.
        if cfg!(feature = "testing") {
            bytemuck::cast_slice_mut::<T, u8>(&mut vector).fill(0xff);
        }
        vector
    }

    /// Returns a vector of `len` zeros.
    pub(crate) fn take_zeroed<T: bytemuck::Pod + Send>(&self, len: usize, budget: u64) -> Vec<T> {
        match self.used(len, budget) {
            Some(mut vector) => {
                vector.fill(T::zeroed());
                vector
            }
            None => bytemuck::allocation::zeroed_vec(len),
        }
    }

    /// Returns a vector that was used before. It is at most twice as large as needed.
    fn used<T: bytemuck::Pod + Send>(&self, len: usize, budget: u64) -> Option<Vec<T>> {
        let bytes = len.checked_mul(size_of::<T>()).filter(|&bytes| bytes >= LEAST)?;
        let mut kept = self.lock();
        kept.clock += 1;
        kept.most = MOST.min(budget / 4);
        let clock = kept.clock;
        kept.vectors.retain(|vector| clock - vector.dropped <= AGE);
        let fits = |v: &Vector| v.of == TypeId::of::<T>() && (bytes..=2 * bytes).contains(&v.bytes);
        let found = kept.vectors.iter().enumerate().filter(|(_, v)| fits(v)).min_by_key(|(_, v)| v.bytes)?.0;
        let vector = kept.vectors.remove(found);
        drop(kept);
        let mut elements = *vector.elements.downcast::<Vec<T>>().ok()?;
        elements.resize(len, T::zeroed());
        Some(elements)
    }

    /// Keeps the memory of a vector, and gives back the oldest if there is too much.
    fn put<T: Send + 'static>(&self, vector: Vec<T>) {
        let bytes = vector.capacity() * size_of::<T>();
        if bytes < LEAST {
            return;
        }
        // In a process that was forked while another thread held the lock, it is never released. Then the memory is
        // freed.
        let Ok(mut kept) = self.0.try_lock() else { return };
        let dropped = kept.clock;
        kept.vectors.push(Vector { of: TypeId::of::<T>(), elements: Box::new(vector), bytes, dropped });
        while kept.bytes() > kept.most {
            kept.vectors.remove(0);
        }
    }

    /// Gives all memory back to the system.
    pub(crate) fn trim(&self) {
        self.lock().vectors.clear();
    }
}

impl Kept {
    fn bytes(&self) -> u64 {
        self.vectors.iter().map(|vector| vector.bytes as u64).sum()
    }
}

impl fmt::Debug for HostMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostMemory").field("bytes", &self.lock().bytes()).finish()
    }
}

/// The elements of an array on the host. When the last holder drops them, their memory goes back to where it came from.
#[derive(Clone)]
pub(crate) struct Elements<T> {
    data: Data<T>,
    home: Option<Home<T>>,
}

/// Whose memory the elements are in.
#[derive(Clone)]
enum Data<T> {
    Own(Arc<Vec<T>>),
    /// The caller's, such as an array of another language.
    Lent(Arc<dyn AsRef<[T]> + Send + Sync>),
}

#[derive(Clone, Debug)]
struct Home<T> {
    memory: Arc<HostMemory>,
    /// [`HostMemory::put`], which only exists for types that satisfy its bounds.
    put: fn(&HostMemory, Vec<T>),
}

impl<T> Elements<T> {
    /// Wraps elements whose memory is freed when they are dropped.
    pub(crate) fn new(data: Vec<T>) -> Self {
        Self { data: Data::Own(Arc::new(data)), home: None }
    }

    /// Wraps elements in memory that `owner` holds.
    pub(crate) fn lent(owner: impl AsRef<[T]> + Send + Sync + 'static) -> Self {
        Self { data: Data::Lent(Arc::new(owner)), home: None }
    }

    /// Wraps elements whose memory goes to `memory` when they are dropped.
    pub(crate) fn of(memory: Arc<HostMemory>, data: Vec<T>) -> Self
    where
        T: Send + 'static,
    {
        Self { data: Data::Own(Arc::new(data)), home: Some(Home { memory, put: HostMemory::put::<T> }) }
    }

    /// Returns another holder of the elements as a vector, copied if the memory is the caller's. While it exists, the
    /// memory is not used again.
    pub(crate) fn shared(&self) -> Arc<Vec<T>>
    where
        T: Clone,
    {
        match &self.data {
            Data::Own(vector) => Arc::clone(vector),
            Data::Lent(owner) => Arc::new((**owner).as_ref().to_vec()),
        }
    }

    /// Returns the elements as a vector, copied if there is another holder.
    pub(crate) fn into_vec(mut self) -> Vec<T>
    where
        T: Clone,
    {
        match &mut self.data {
            Data::Own(vector) => match Arc::get_mut(vector) {
                Some(own) => std::mem::take(own),
                None => vector.to_vec(),
            },
            Data::Lent(owner) => (**owner).as_ref().to_vec(),
        }
    }

    /// Returns the elements for writing, copied if there is another holder or the memory is the caller's.
    pub(crate) fn make_mut(&mut self) -> &mut [T]
    where
        T: Clone,
    {
        if let Data::Lent(owner) = &self.data {
            self.data = Data::Own(Arc::new((**owner).as_ref().to_vec()));
        }
        match &mut self.data {
            Data::Own(vector) => Arc::make_mut(vector).as_mut_slice(),
            Data::Lent(_) => unreachable!("replaced above"),
        }
    }

    /// Removes the elements after the first `len`.
    pub(crate) fn truncate(&mut self, len: usize)
    where
        T: Clone,
    {
        if self.len() > len {
            match &mut self.data {
                Data::Own(vector) => Arc::make_mut(vector).truncate(len),
                Data::Lent(owner) => self.data = Data::Own(Arc::new((**owner).as_ref()[..len].to_vec())),
            }
        }
    }
}

impl<T> Deref for Elements<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.data {
            Data::Own(vector) => vector,
            Data::Lent(owner) => (**owner).as_ref(),
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Elements<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<T> Drop for Elements<T> {
    fn drop(&mut self) {
        let Data::Own(vector) = &mut self.data else { return };
        if let (Some(home), Some(data)) = (&self.home, Arc::get_mut(vector)) {
            (home.put)(&home.memory, std::mem::take(data));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{AGE, Elements, HostMemory, LEAST, MOST};
    use std::sync::Arc;

    const LEN: usize = LEAST / 4;

    fn kept(memory: &HostMemory) -> u64 {
        memory.lock().bytes()
    }

    #[test]
    fn memory_is_used_again_when_its_last_holder_is_gone() {
        let memory = Arc::new(HostMemory::default());
        let elements = Elements::of(Arc::clone(&memory), memory.take::<f32>(LEN, u64::MAX));
        let place = elements.as_ptr();
        let (other, shared) = (elements.clone(), elements.shared());
        drop(elements);
        drop(shared);
        assert_eq!(kept(&memory), 0, "there is another holder");
        drop(other);
        assert_eq!(kept(&memory), LEAST as u64);
        // A type of another size, and lengths that fit badly, get other memory.
        assert_eq!(memory.take::<f64>(LEN / 2, u64::MAX).len(), LEN / 2);
        let longer = memory.take::<f32>(LEN + 1, u64::MAX);
        assert_ne!(longer.as_ptr(), place);
        assert_eq!(kept(&memory), LEAST as u64);
        let again = memory.take::<f32>(LEN, u64::MAX);
        assert_eq!((again.as_ptr(), again.len(), kept(&memory)), (place, LEN, 0));
    }

    struct Owner(Arc<Vec<u32>>);

    impl AsRef<[u32]> for Owner {
        fn as_ref(&self) -> &[u32] {
            &self.0
        }
    }

    /// The memory of a caller is read where it is, and never kept.
    #[test]
    fn lent_memory_is_read_in_place() {
        let memory = Arc::new(vec![1_u32, 2, 3]);
        let mut elements = Elements::lent(Owner(Arc::clone(&memory)));
        assert_eq!((elements.as_ptr(), elements.len()), (memory.as_ptr(), 3));
        assert_eq!((elements.shared().as_slice(), elements.clone().into_vec()), (&[1, 2, 3][..], vec![1, 2, 3]));
        elements.truncate(2);
        assert_eq!((&elements[..], Arc::strong_count(&memory)), (&[1, 2][..], 1));
    }

    #[test]
    fn the_last_holder_gives_its_vector_away() {
        let elements = Elements::new(vec![1_u32, 2]);
        let (place, other) = (elements.as_ptr(), elements.clone());
        let copied = elements.into_vec();
        assert_ne!(copied.as_ptr(), place, "there is another holder");
        let own = other.into_vec();
        assert_eq!((own.as_ptr(), own), (place, copied));
    }

    /// A vector may be longer or shorter than the one before it in the same memory.
    #[test]
    fn lengths_are_those_that_were_asked_for() {
        let memory = Arc::new(HostMemory::default());
        for len in [2 * LEN, LEN, 2 * LEN, LEN + 7] {
            let vector = memory.take::<f32>(len, u64::MAX);
            assert_eq!(vector.len(), len);
            drop(Elements::of(Arc::clone(&memory), vector));
            assert_eq!(kept(&memory), 2 * LEAST as u64);
        }
    }

    #[test]
    fn zeros_are_zeros_in_used_memory_too() {
        let memory = HostMemory::default();
        let mut used = memory.take_zeroed::<f32>(LEN, u64::MAX);
        assert!(used.iter().all(|&x| x == 0.0));
        used.fill(f32::NAN);
        let place = used.as_ptr();
        memory.put(used);
        let again = memory.take_zeroed::<f32>(LEN, u64::MAX);
        assert!(again.as_ptr() == place && again.len() == LEN && again.iter().all(|&x| x == 0.0));
    }

    #[test]
    fn memory_is_bounded_and_ages() {
        let memory = HostMemory::default();
        // What is kept is bounded by a quarter of the budget, and the oldest goes first.
        let vectors: Vec<Vec<f32>> = (0..3).map(|_| memory.take(LEN, 8 * LEAST as u64)).collect();
        let places: Vec<*const f32> = vectors.iter().map(|vector| vector.as_ptr()).collect();
        vectors.into_iter().for_each(|vector| memory.put(vector));
        assert_eq!(kept(&memory), 2 * LEAST as u64);
        let next = memory.take::<f32>(LEN, u64::MAX);
        assert!(next.as_ptr() != places[0] && memory.lock().most == MOST);
        memory.put(next);
        for _ in 0..AGE {
            memory.take::<f64>(LEN, u64::MAX);
        }
        assert!(kept(&memory) > 0);
        memory.take::<f64>(LEN, u64::MAX);
        assert_eq!(kept(&memory), 0, "nothing has used the memory for long");
        memory.put(vec![0.0_f32; LEN]);
        memory.trim();
        assert_eq!(kept(&memory), 0);
        memory.put(vec![0.0_f32; LEN - 1]);
        assert_eq!(kept(&memory), 0, "too small to be worth it");
    }
}
