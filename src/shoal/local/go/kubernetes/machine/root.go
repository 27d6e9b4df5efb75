package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// becomeRoot puts the private root together and moves into it. Nothing of it is seen outside.
func becomeRoot(config Config) error {
	// Slave, not private: what the host mounts later (a disk) still arrives, nothing goes back.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return fmt.Errorf("make / a slave: %w", err)
	}
	if err := unix.Mount("tmpfs", config.Root, "tmpfs", 0, "mode=755"); err != nil {
		return fmt.Errorf("mount a root on %s: %w", config.Root, err)
	}
	for _, mount := range config.Mounts {
		if err := mountBelow(config.Root, mount); err != nil {
			return fmt.Errorf("mount %s on %s: %w", mount.Source, mount.Target, err)
		}
	}
	for _, link := range config.Links {
		if err := os.Symlink(link.Target, filepath.Join(config.Root, link.Path)); err != nil {
			return err
		}
	}
	if err := makeDevices(config.Devices, filepath.Join(config.Root, "dev")); err != nil {
		return err
	}
	if err := pivot(config.Root); err != nil {
		return fmt.Errorf("pivot to %s: %w", config.Root, err)
	}
	// Containers may ask for mount propagation: inside the machine everything is shared.
	return unix.Mount("", "/", "", unix.MS_REC|unix.MS_SHARED, "")
}

func mountBelow(root string, mount Mount) error {
	target := filepath.Join(root, mount.Target)
	if err := makeTarget(mount, target); err != nil {
		return err
	}
	var flags uintptr
	kind := mount.Kind
	switch kind {
	case "bind":
		flags, kind = unix.MS_BIND, ""
	case "rbind":
		flags, kind = unix.MS_BIND|unix.MS_REC, ""
	}
	if err := mountWhenFree(mount.Source, target, kind, flags, mount.Options); err != nil {
		return err
	}
	if mount.ReadOnly {
		return unix.Mount("", target, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY, "")
	}
	return nil
}

// mountWhenFree waits while the overlay's upper folder still belongs to a mount of the machine that
// was here before: the kernel takes a dead machine's mounts away a moment after its processes. Only
// with an index does it say so instead of going ahead.
func mountWhenFree(source, target, kind string, flags uintptr, options string) error {
	if kind != "overlay" {
		return unix.Mount(source, target, kind, flags, options)
	}
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		err := unix.Mount(source, target, kind, flags, options+",index=on")
		if err != unix.EBUSY || time.Now().After(deadline) {
			return err
		}
	}
}

func makeTarget(mount Mount, target string) error {
	if _, err := os.Stat(target); err == nil {
		return nil
	}
	source, err := os.Stat(mount.Source)
	if err == nil && !source.IsDir() {
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		return os.WriteFile(target, nil, 0o644)
	}
	return os.MkdirAll(target, 0o755)
}

func pivot(root string) error {
	if err := os.Chdir(root); err != nil {
		return err
	}
	// With both arguments "." the old root lies on top of the new one and is then taken away.
	if err := unix.PivotRoot(".", "."); err != nil {
		return err
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return err
	}
	return os.Chdir("/")
}
