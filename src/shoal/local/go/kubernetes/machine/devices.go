package main

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// makeDevices makes a node below target for every device of the host that a pattern finds: the same
// device with the same rights, but a name and rights of the machine's own to remove and change.
func makeDevices(patterns []string, target string) error {
	for _, pattern := range patterns {
		found, err := filepath.Glob(filepath.Join("/dev", pattern))
		if err != nil {
			return fmt.Errorf("devices %s: %w", pattern, err)
		}
		for _, path := range found {
			name, err := filepath.Rel("/dev", path)
			if err != nil {
				return err
			}
			if err := makeDevice(path, filepath.Join(target, name)); err != nil {
				return fmt.Errorf("make device %s: %w", name, err)
			}
		}
	}
	return nil
}

func makeDevice(source, target string) error {
	info, err := os.Lstat(source)
	if os.IsNotExist(err) {
		return nil // it was unplugged meanwhile
	}
	if err != nil {
		return err
	}
	if info.Mode()&os.ModeDevice == 0 {
		return nil
	}
	about := info.Sys().(*syscall.Stat_t)
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	if err := unix.Mknod(target, about.Mode, int(about.Rdev)); err != nil {
		return err
	}
	if err := os.Lchown(target, int(about.Uid), int(about.Gid)); err != nil {
		return err
	}
	// The umask has taken some rights away.
	return os.Chmod(target, info.Mode().Perm())
}
