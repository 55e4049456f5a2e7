//! Buffers: reuse, limits, and copies to and from the host.

use cotangent_cpu::CpuBackend;
use cotangent_hal::{Backend, Buffer, Error, Memory};
use std::any::Any;

#[test]
fn dropped_buffers_are_used_again() {
    let cpu = CpuBackend::new();
    for _ in 0..10 {
        let buffers: Vec<Buffer> = (1..50).map(|i| cpu.alloc(i * 100).unwrap()).collect();
        assert!(buffers.iter().enumerate().all(|(i, b)| b.bytes() >= (i + 1) * 100));
        assert_eq!(cpu.memory().used, buffers.iter().map(Buffer::bytes).sum());
    }
    assert_eq!((cpu.allocations(), cpu.memory().used), (49, 0));
}

#[test]
#[cfg(not(miri))]
fn unused_memory_goes_back_before_more_is_asked() {
    let cpu = CpuBackend::new();
    for i in 0..12 {
        drop(cpu.alloc((20 << 20) + i * (4 << 20)).unwrap());
    }
    // Never more than twice the largest of these, and 64 MiB.
    assert!(cpu.memory().held <= 2 * (66 << 20) + (64 << 20), "{} bytes are held", cpu.memory().held);
}

#[test]
fn too_large_a_request_is_an_error() {
    let cpu = CpuBackend::new();
    let error = cpu.alloc(usize::MAX - 10).unwrap_err();
    assert!(matches!(&error, Error::Memory { asked, .. } if *asked == usize::MAX - 10), "{error}");
}

#[test]
fn reads_and_writes_are_checked() {
    let cpu = CpuBackend::new();
    let buffer = cpu.alloc(10).unwrap();
    cpu.write(&buffer, &[1, 2, 3]).unwrap();
    let mut bytes = [0; 3];
    cpu.read(&buffer, &mut bytes).unwrap();
    assert_eq!(bytes, [1, 2, 3]);
    assert!(cpu.write(&buffer, &[0; 65]).unwrap_err().to_string().contains("65 bytes do not fit a buffer of 64"));
    assert!(cpu.read(&buffer, &mut [0; 65]).unwrap_err().to_string().contains("65 bytes cannot be read"));
    let second = buffer.clone();
    assert!(cpu.write(&buffer, &[0]).unwrap_err().to_string().contains("further owners"));
    drop(second);
    cpu.write(&buffer, &[0]).unwrap();
}

#[test]
fn memory_of_another_backend_is_refused() {
    struct Other;
    impl Memory for Other {
        fn bytes(&self) -> usize {
            64
        }
        fn as_any(&self) -> &dyn Any {
            self
        }
    }
    let error = CpuBackend::new().write(&Buffer::new(Other), &[0]).unwrap_err();
    assert!(error.to_string().contains("belongs to another backend"), "{error}");
}

#[test]
fn threads_share_the_pool() {
    let cpu = CpuBackend::new();
    let rounds = if cfg!(miri) { 5 } else { 2000 };
    std::thread::scope(|s| {
        for t in 0..4u8 {
            let cpu = &cpu;
            s.spawn(move || {
                for _ in 0..rounds {
                    let buffer = cpu.alloc(256).unwrap();
                    cpu.write(&buffer, &[t; 256]).unwrap();
                    let mut bytes = [0; 256];
                    cpu.read(&buffer, &mut bytes).unwrap();
                    assert_eq!(bytes, [t; 256]);
                }
            });
        }
    });
    assert!(cpu.allocations() <= 4);
}
