package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// boot starts the machine's init, detached from this process, and prints its pid.
func boot(path string) error {
	config, err := readConfig(path)
	if err != nil {
		return err
	}
	log, err := os.OpenFile(config.Log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	child := exec.Command("/proc/self/exe", "init", path)
	child.Stdout, child.Stderr = log, log
	child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if config.Netns != "" {
		// The child is cloned from this very thread and so begins in its network namespace.
		runtime.LockOSThread()
		if err := enter(config.Netns); err != nil {
			return err
		}
		child.SysProcAttr.Cloneflags = unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC
	}
	if err := child.Start(); err != nil {
		return err
	}
	fmt.Println(child.Process.Pid)
	return nil
}

func enter(netns string) error {
	handle, err := unix.Open(netns, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("%s: %w", netns, err)
	}
	defer unix.Close(handle)
	if err := unix.Setns(handle, unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("setns %s: %w", netns, err)
	}
	return nil
}
