# shellcheck shell=bash disable=SC2154 # the caller sets them
# What `run` and `again` share: the archive, the driver, and steps that end in time. Needs bash, coreutils, tar and sed.
# The caller sets `total` (seconds), `out` (the folder of results), `wanted` (words of an adapter's name) and `archive`.
#
# Steps write into a folder of work, from which a loop copies what has changed to the folder of results. So a full
# folder of results costs no step, and whoever ends the machine early has everything up to the last seconds.

kit=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
began=$SECONDS
work=${TMPDIR:-/tmp}/gpu-day.$(id -u)
made=$work/results # what is copied to $out
bin=$work/bin
tmp=$work/tmp # of the present step
mkdir -p "$work"
[ -O "$work" ] || { echo "$work belongs to another user" >&2 && exit 1; }
rm -rf "$made" "$work/dumps"
mkdir -p "$made" "$tmp" "$work/dumps"
: "${HOME:=$work}" "${VK_DRIVER_FILES:=}"
export HOME FIEDLER_CACHE_BYTES=0 FIEDLER_CACHE_DIR=$work/cache

passed() { echo $((SECONDS - began)); }
left() { echo $((total - SECONDS + began)); }

# Prints a line on standard output and in the log.
say() {
    local line
    line=$(printf '%4d s  %s' "$(passed)" "$*")
    echo "$line"
    { echo "$line" >>"$made/log.txt"; } 2>/dev/null
}

# The results, in the order of their worth. They are few, because some machines return no more than eight files.
results=(log.txt card.json peers.jsonl suites.txt dumps.tar.gz steps.txt machine.txt card.html)
largest=$((15 << 20)) # bytes of a file, likewise

# Copies the results that changed to $out, each whole or not at all.
publish() {
    local name from to
    for name in "${results[@]}"; do
        from=$made/$name to=$out/$name
        if [ ! -f "$from" ] || { [ -e "$to" ] && [ ! "$from" -nt "$to" ]; }; then continue; fi
        if ! { copy "$from" "$out/.part" && touch -r "$from" "$out/.part" && mv "$out/.part" "$to"; } \
            2>/dev/null; then
            rm -f "$out/.part"
            [ -e "$work/full" ] || say "CANNOT WRITE $to ($(room "$out") left there): what does not fit stays in $made"
            touch "$work/full" 2>/dev/null
        fi
    done
}

# Copies a file; of one that is too large, its two ends.
copy() {
    if (($(stat -c %s "$1") <= largest)); then cp "$1" "$2"; else
        { head -c $((largest / 2)) "$1" && printf '\n[...]\n' && tail -c $((largest / 2)) "$1"; } >"$2"
    fi
}

# Prints how much a folder can still take.
room() { df -h --output=avail "$1" 2>/dev/null | sed '1d; s/ //g'; }

# Publishes every few seconds until the end of this process.
publishing() {
    rm -f "$work/full"
    while sleep 5 >&- 2>&- && kill -0 $$ 2>/dev/null; do publish; done &
    publisher=$!
    trap 'kill $publisher 2>/dev/null; publish' EXIT
}

# step NAME SECONDS FILE COMMAND...: runs a command with a limit. Its output goes to FILE, one of the results. What it
# did, and its share of the time, goes to the log. A command that does not end is killed with its process group.
step() {
    local name=$1 limit=$2 file=$made/$3 most started took status=0 said before
    shift 3
    most=$(($(left) - 8))
    ((limit <= most)) || limit=$most
    if ((limit < 3)); then
        say "$name: NOT RUN, no time is left"
        return 124
    fi
    mkdir -p "$tmp"
    started=$SECONDS before=$(stat -c %s "$file" 2>/dev/null || echo 0)
    {
        printf '\n== %s (after %d s, limit %d s)\n' "$name" "$(passed)" "$limit" >>"$file"
    } 2>/dev/null
    { (
        ulimit -c 0 -f 4194304 # 4 GiB
        { echo 700 >/proc/self/oom_score_adj; } 2>/dev/null # the step is what a lack of memory should end
        export TMPDIR=$tmp
        exec timeout -k 4 "$limit" "$@" >>"$file" 2>&1 </dev/null
    ) || status=$?; } 2>/dev/null
    took=$((SECONDS - started))
    case $status in
    0) said="done" ;;
    124) said="STOPPED at its limit" ;;
    137) said="KILLED, at its limit or by the system" ;;
    12[67]) said="NOT STARTED (status $status)" ;;
    1[2-9]?) said="ENDED by signal $((status - 128))" ;;
    *) said="FAILED (status $status)" ;;
    esac
    say "$(printf '%-42s %4d s of %4d, %4.1f %% of the time: %s' \
        "$name" $took "$limit" "$((1000 * took / total))e-1" "$said")"
    if ((status)); then
        # Trials that failed, or the last lines.
        { tail -c "+$((before + 1))" "$file" | grep -m 3 -E '^ *[0-9.]+ s .* failed: ' || tail -n 2 "$file"; } 2>/dev/null |
            cut -c1-200 | while IFS= read -r line; do say "    | $line"; done
        { ((status > 128)) && dmesg 2>/dev/null | grep -iE 'nvrm|xid|amdgpu|i915|out of memory' | tail -n 3; } |
            while IFS= read -r line; do say "    | $line"; done
    fi
    rm -rf "$tmp"
    return $status
}

# Unpacks the archive, unless an earlier call has.
unpack() {
    local stamp
    if [ -f "$kit/payload.tar.xz" ]; then
        archive=$kit/payload.tar.xz
    else
        archive=${archive:-$kit/../../target/gpu-day.tar}
    fi
    [ -f "$archive" ] || { say "there is no archive at $archive: benches/gpu-day/pack makes it"; return 1; }
    stamp=$(cksum <"$archive")
    if [ "$(cat "$work/stamp" 2>/dev/null)" != "$stamp" ]; then
        rm -rf "${work:?}"/{bin,lib,gpu-day}
        case $archive in *.xz) ln -sfn "$kit" "$work/gpu-day" ;; *) tar -xf "$archive" -C "$work" || return 1 ;; esac
        # The machine's xz, or that of the archive.
        { xz -dc "$work/gpu-day/payload.tar.xz" 2>/dev/null ||
            LD_LIBRARY_PATH=$work/gpu-day "$work/gpu-day/xz" -dc "$work/gpu-day/payload.tar.xz"; } |
            tar -xf - -C "$work" || { say "cannot unpack $archive ($(room "$work") left in $work)"; return 1; }
        echo "$stamp" >"$work/stamp"
    fi
    say "unpacked: $(tr '\n' ' ' <"$work/manifest")"
    local needs has
    needs=$(sed -n 's/^glibc //p' "$work/manifest")
    has=$(getconf GNU_LIBC_VERSION 2>/dev/null | sed 's/.* //')
    if [ -n "$has" ] && [ "$(printf '%s\n%s\n' "$needs" "$has" | sort -V | head -n 1)" != "$needs" ]; then
        say "MISSING: glibc $needs, which the binaries need; this machine has $has"
        return 1
    fi
}

# Folders in which containers and distributions place drivers that the linker's cache may not list.
folders=(/usr/lib/x86_64-linux-gnu /usr/lib64 /usr/lib /usr/local/nvidia/lib64 /usr/local/nvidia/lib /usr/lib/wsl/lib
    /run/opengl-driver/lib /usr/local/cuda/compat)

# Prints the path of a shared library of this machine.
library() {
    local path folder
    path=$({ ldconfig -p || /sbin/ldconfig -p; } 2>/dev/null | sed -n "s|.*$1 .*x86-64.* => ||p" | head -n 1)
    for folder in "${folders[@]}"; do
        [ -n "$path" ] || [ ! -e "$folder/$1" ] || path=$folder/$1
    done
    [ -n "$path" ] && echo "$path"
}

# Prints the adapters that the present settings show: name, features, interface, driver.
adapters() {
    echo 'the adapters of this machine' |
        FIEDLER_TRIAL_ANSWERS=$work/answers timeout -k 2 30 "$bin/device" 2>>"$made/machine.txt" | sed -n 's/^adapter\t//p'
}

# The name of the adapter that is asked for, or of the first that is no software.
chosen() {
    : >"$work/answers"
    adapters | cut -f 1 |
        if [ -n "$wanted" ]; then grep -iF -- "$wanted"; else grep -viE 'llvmpipe|swiftshader'; fi | head -n 1
}

# Lets programs find the Vulkan loader, and finds a driver's manifest under which there is an adapter. Sets `adapter`.
driver() {
    local file path
    mkdir -p "$work/missing"
    for file in "$work"/lib/*.so*; do # of the archive, only what the machine lacks
        [ -n "$(library "$(basename "$file")")" ] || ln -sf "$file" "$work/missing/"
    done
    LD_LIBRARY_PATH=$work/missing${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    for path in /usr/local/nvidia/lib64 /usr/lib/wsl/lib /run/opengl-driver/lib; do
        [ -d $path ] && LD_LIBRARY_PATH+=:$path
    done
    export LD_LIBRARY_PATH
    say "Vulkan loader: $(library libvulkan.so.1 || echo "that of the archive")"
    say "libraries of the archive: $(find "$work/missing" -type l -printf '%f ')"
    adapter=$(chosen)
    [ -n "$adapter" ] && return
    local tried=()
    for file in /usr/local/nvidia/share/vulkan/icd.d/*.json /usr/local/share/vulkan/icd.d/*.json \
        /run/opengl-driver/share/vulkan/icd.d/*.json; do
        [ -f "$file" ] && tried+=("$file")
    done
    for file in libGLX_nvidia.so.0 libEGL_nvidia.so.0; do # the second needs no library of X
        path=$(library $file) || continue
        printf '{"file_format_version": "1.0.0", "ICD": {"library_path": "%s", "api_version": "1.3.0"}}\n' \
            "$path" >"$work/${file%%.*}.json" && tried+=("$work/${file%%.*}.json")
    done
    for file in ${tried[@]+"${tried[@]}"}; do
        export VK_DRIVER_FILES=$file
        adapter=$(chosen)
        say "driver manifest $file: ${adapter:-no adapter}"
        [ -n "$adapter" ] && return
    done
    unset VK_DRIVER_FILES
    lacking
    return 1
}

# Says what this machine lacks for an adapter to be seen.
lacking() {
    local file path missing
    say "NO ADAPTER${wanted:+ named $wanted}. Seen: $(adapters | cut -f 1,4 | tr '\t\n' ' ;')"
    for path in /dev/nvidia0 /dev/nvidiactl /dev/dri/renderD128; do
        say "device file $path: $([ -e $path ] && echo there || echo MISSING)"
    done
    command -v nvidia-smi >/dev/null || say "nvidia-smi: MISSING, so there may be no NVIDIA driver"
    for file in libGLX_nvidia.so.0 libEGL_nvidia.so.0; do
        if path=$(library $file); then
            missing=$(ldd "$path" 2>/dev/null | sed -n 's/ => not found//p' | tr -d '\t' | tr '\n' ' ')
            say "$path: there${missing:+, but it needs $missing}"
        else
            say "$file: MISSING. A container has it only with the driver's capability \`graphics\`:" \
                "NVIDIA_DRIVER_CAPABILITIES is ${NVIDIA_DRIVER_CAPABILITIES:-not set}; it must name \`graphics\` or \`all\`"
        fi
    done
    say "packages that may help, where there is a network: $(sed -n 's/^packages //p' "$work/manifest")"
    { VK_LOADER_DEBUG=all adapters; } >>"$made/machine.txt" 2>&1
    say "what the loader tried is in machine.txt"
}

# trials NAME SECONDS BINARY FILTER...: runs trials of a suite on the adapter alone. More arguments go to the harness.
trials() {
    local name=$1 seconds=$2 suite=$3 threads skips=(--skip @cpu) other
    shift 3
    for other in llvmpipe SwiftShader; do
        case $adapter in *$other*) ;; *) skips+=(--skip "@$other") ;; esac
    done
    threads=$(nproc)
    FIEDLER_TRIAL_TIMES=1 FIEDLER_TRIAL_LIMIT=${trial_limit:-40} FIEDLER_TRIAL_DUMP=$work/dumps RUST_BACKTRACE=0 \
        step "$name" "$seconds" suites.txt \
        "$bin/$suite" --test-threads $((threads > 8 ? 8 : threads)) "${skips[@]}" "$@"
}

# Counts what the suites have said so far.
counted() {
    local passed failed
    passed=$(grep -cE '^ *[0-9.]+ s .*@' "$made/suites.txt" 2>/dev/null)
    failed=$(grep -cE '^ *[0-9.]+ s .*@.* failed: ' "$made/suites.txt" 2>/dev/null)
    say "trials so far: $((passed - failed)) passed, $failed failed"
}

# Packs what failing trials stored, as much as is worth bringing home.
dumps() {
    [ -n "$(ls "$work/dumps" 2>/dev/null)" ] || return 0
    (cd "$work/dumps" && find . -type f -printf '%s %p\n' | sort -n | head -n 40 | cut -d ' ' -f 2- |
        tar -czf "$made/dumps.tar.gz" -T -)
    say "cases that failed: $(find "$work/dumps" -type f | wc -l) files, in dumps.tar.gz"
}
