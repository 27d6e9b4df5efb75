package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	shortestBackOff = 200 * time.Millisecond
	longestBackOff  = 10 * time.Second
	steadyAfter     = 10 * time.Second // a program that ran this long starts afresh at the shortest
	housekeeping    = 30 * time.Second
	longestLog      = 64 << 20
)

// beInit keeps the machine's programs running. When it dies, all of them die at once: in a PID
// namespace because it is their init, elsewhere because of the parent-death signal.
func beInit(path string) error {
	// That signal is tied to the thread that forks, so every program starts from this one.
	runtime.LockOSThread()
	config, err := readConfig(path)
	if err != nil {
		return err
	}
	if err := joinCgroups(config.Cgroups); err != nil {
		return err
	}
	if config.Netns != "" {
		if err := unix.Sethostname([]byte(config.Hostname)); err != nil {
			return err
		}
		if err := becomeRoot(config); err != nil {
			return err
		}
	}
	allowManyFiles()
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return err
	}
	return supervise(config.Programs)
}

func joinCgroups(folders []string) error {
	for _, folder := range folders {
		// 0 means "the writer": our pid in here is not the one that the hierarchy knows.
		if err := os.WriteFile(filepath.Join(folder, "cgroup.procs"), []byte("0"), 0); err != nil {
			return fmt.Errorf("join cgroup: %w", err)
		}
	}
	return nil
}

func allowManyFiles() {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) == nil {
		limit.Cur = limit.Max
		_ = unix.Setrlimit(unix.RLIMIT_NOFILE, &limit)
	}
}

// child is one supervised program between its starts.
type child struct {
	Program
	pid     int
	started time.Time
	backOff time.Duration
	due     time.Time
}

// supervise starts what is due, reaps whatever ends, and does so for ever.
func supervise(programs []Program) error {
	children := make([]*child, len(programs))
	for i, program := range programs {
		children[i] = &child{Program: program, backOff: shortestBackOff}
	}
	clean := time.Now().Add(housekeeping)
	for {
		for _, c := range children {
			c.startWhenDue()
		}
		reap(children)
		if time.Now().After(clean) {
			for _, c := range children {
				shorten(c.Log)
			}
			clean = time.Now().Add(housekeeping)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func (c *child) startWhenDue() {
	if c.pid != 0 || time.Now().Before(c.due) || !allThere(c.After) {
		return
	}
	if err := c.start(); err != nil {
		fmt.Printf("%s %s: %v\n", stamp(), c.Name, err)
		c.wait()
	}
}

func (c *child) start() error {
	log, err := os.OpenFile(c.Log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	nothing, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer nothing.Close()
	c.started = time.Now()
	c.pid, err = syscall.ForkExec(c.Argv[0], c.Argv, &syscall.ProcAttr{
		Dir:   "/",
		Env:   c.Environment,
		Files: []uintptr{nothing.Fd(), log.Fd(), log.Fd()},
		Sys:   &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		c.pid = 0
		return err
	}
	fmt.Printf("%s %s: started as %d\n", stamp(), c.Name, c.pid)
	return nil
}

func (c *child) wait() {
	if time.Since(c.started) > steadyAfter {
		c.backOff = shortestBackOff
	}
	c.due = time.Now().Add(c.backOff)
	c.backOff = min(2*c.backOff, longestBackOff)
}

func reap(children []*child) {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
		if err == syscall.EINTR {
			continue
		}
		if pid <= 0 || err != nil {
			return
		}
		for _, c := range children {
			if c.pid == pid {
				c.pid = 0
				c.wait()
				fmt.Printf("%s %s: ended (%s), again in %s\n", stamp(), c.Name, ending(status), time.Until(c.due).Round(time.Millisecond))
			}
		}
	}
}

func ending(status syscall.WaitStatus) string {
	if status.Signaled() {
		return status.Signal().String()
	}
	return fmt.Sprintf("exit code %d", status.ExitStatus())
}

func allThere(paths []string) bool {
	for _, path := range paths {
		if _, err := os.Stat(path); err != nil {
			return false
		}
	}
	return true
}

// shorten keeps one old log beside the current one. Programs append, so cutting is safe.
func shorten(path string) {
	info, err := os.Stat(path)
	if err != nil || info.Size() < longestLog {
		return
	}
	old, err := os.ReadFile(path)
	if err != nil || os.WriteFile(path+".1", old, 0o644) != nil {
		return
	}
	_ = os.Truncate(path, 0)
}

func stamp() string {
	return time.Now().UTC().Format(time.RFC3339)
}
