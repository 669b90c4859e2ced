//! The adapter, and an instance that has no other.

use super::device::Device;
use super::queue::Queue;
use super::shared::Shared;
use super::unsupported::Unsupported;
use crate::adversary::{Programs, Settings};
use crate::faults::{Fault, Injector};
use crate::report::Report;
use std::future::ready;
use std::pin::Pin;
use std::sync::Arc;
use wgpu::RequestDeviceError;
use wgpu::custom::*;

/// What [`wgpu::Adapter`] holds.
#[derive(Clone, Debug)]
pub(crate) struct Adapter {
    pub(crate) settings: Settings,
    pub(crate) injector: Arc<Injector>,
    pub(crate) report: Arc<Report>,
    pub(crate) programs: Arc<Programs>,
}

impl Adapter {
    pub(crate) fn new(settings: Settings) -> Self {
        Self { settings, injector: Arc::default(), report: Arc::default(), programs: Arc::default() }
    }

    /// Opens a device, and asks nothing.
    pub(crate) fn open(&self, features: wgpu::Features, limits: wgpu::Limits) -> (Device, Queue) {
        let Self { settings, injector, report, programs } = self.clone();
        let shared = Shared::new(settings, (features, limits), injector, report, programs);
        (Device(Arc::clone(&shared)), Queue(shared))
    }

    fn request(&self, descriptor: &wgpu::DeviceDescriptor<'_>) -> Result<(Device, Queue), RequestDeviceError> {
        let refuse = |message: String| Err(RequestDeviceError::from_message(message));
        let missing = descriptor.required_features.difference(self.features());
        if !missing.is_empty() {
            return refuse(format!("the adapter does not have the features {missing:?}"));
        }
        let mut exceeded = None;
        descriptor.required_limits.check_limits_with_fail_fn(&self.limits(), true, |name, wanted, allowed| {
            exceeded = Some(format!("the adapter's limit {name} is {allowed}, and {wanted} is required"));
        });
        if let Some(message) = exceeded {
            return refuse(message);
        }
        if self.injector.strikes(Fault::DeviceRefused, "Adapter::request_device") {
            return refuse("injected fault: the device cannot be opened".to_owned());
        }
        Ok(self.open(descriptor.required_features, descriptor.required_limits.clone()))
    }
}

impl AdapterInterface for Adapter {
    fn request_device(&self, desc: &wgpu::DeviceDescriptor<'_>) -> Pin<Box<dyn RequestDeviceFuture>> {
        let opened = self.request(desc);
        let opened = opened.map(|(device, queue)| (DispatchDevice::custom(device), DispatchQueue::custom(queue)));
        Box::pin(ready(opened))
    }

    fn is_surface_supported(&self, _: &DispatchSurface) -> bool {
        false
    }

    fn features(&self) -> wgpu::Features {
        self.settings.features()
    }

    fn limits(&self) -> wgpu::Limits {
        self.settings.profile.limits.clone()
    }

    fn downlevel_capabilities(&self) -> wgpu::DownlevelCapabilities {
        wgpu::DownlevelCapabilities::default()
    }

    fn get_info(&self) -> wgpu::AdapterInfo {
        self.settings.adapter_info()
    }

    fn get_texture_format_features(&self, _: wgpu::TextureFormat) -> wgpu::TextureFormatFeatures {
        wgpu::TextureFormatFeatures {
            allowed_usages: wgpu::TextureUsages::empty(),
            flags: wgpu::TextureFormatFeatureFlags::empty(),
        }
    }

    fn get_presentation_timestamp(&self) -> wgpu::PresentationTimestamp {
        wgpu::PresentationTimestamp::INVALID_TIMESTAMP
    }

    fn cooperative_matrix_properties(&self) -> Vec<wgpu::CooperativeMatrixProperties> {
        Vec::new()
    }
}

/// What [`wgpu::Instance`] holds: the instance of one adapter.
#[derive(Debug)]
pub(crate) struct Instance(pub(crate) Adapter);

impl InstanceInterface for Instance {
    fn new(_: wgpu::InstanceDescriptor) -> Self {
        Self(Adapter::new(Settings::new(crate::Profile::minimum(), 0)))
    }

    #[expect(unsafe_code, reason = "the trait declares the method unsafe")]
    unsafe fn create_surface(&self, _: wgpu::SurfaceTargetUnsafe) -> Result<DispatchSurface, wgpu::CreateSurfaceError> {
        // A custom backend cannot make a `CreateSurfaceError`. No adapter supports this surface.
        Ok(DispatchSurface::custom(Unsupported))
    }

    fn request_adapter(&self, _: &wgpu::RequestAdapterOptions<'_, '_>) -> Pin<Box<dyn RequestAdapterFuture>> {
        Box::pin(ready(Ok(DispatchAdapter::custom(self.0.clone()))))
    }

    fn poll_all_devices(&self, _: bool) -> bool {
        // The instance does not keep its devices. Each is polled by itself.
        true
    }

    fn wgsl_language_features(&self) -> wgpu::WgslLanguageFeatures {
        wgpu::WgslLanguageFeatures::empty()
    }

    fn enumerate_adapters(&self, _: wgpu::Backends) -> Pin<Box<dyn EnumerateAdapterFuture>> {
        Box::pin(ready(vec![DispatchAdapter::custom(self.0.clone())]))
    }
}
