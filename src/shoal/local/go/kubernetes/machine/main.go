// machine is what a local cluster's namespaces run as their first process, and the image that
// holds a pod's namespaces open. One small static program, so that it can be both.
//
//	machine boot CONFIG   start CONFIG's init in its namespaces, print its pid, return
//	machine init CONFIG   be that init: private root, supervised programs, no zombies
//	machine pause         hold a pod's namespaces
//	machine serve ADDR    answer every request with the host's name
//	machine get URL...    print what the URLs answer
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) < 2 {
		fail("usage: machine boot|init|pause|serve|get ...")
	}
	command, args := os.Args[1], os.Args[2:]
	var err error
	switch command {
	case "boot":
		err = boot(args[0])
	case "init":
		err = beInit(args[0])
	case "pause":
		pause()
	case "serve":
		err = serve(args[0])
	case "get":
		err = get(args)
	default:
		err = fmt.Errorf("unknown command %q", command)
	}
	if err != nil {
		fail(err.Error())
	}
}

func fail(why string) {
	fmt.Fprintln(os.Stderr, "machine:", why)
	os.Exit(1)
}

// pause waits for the signal to stop; with a shared PID namespace it is the pod's init and reaps.
func pause() {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGINT, syscall.SIGTERM)
	children := make(chan os.Signal, 16)
	signal.Notify(children, syscall.SIGCHLD)
	for {
		select {
		case <-stop:
			return
		case <-children:
			for {
				if pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); pid <= 0 || err != nil {
					break
				}
			}
		}
	}
}

func serve(address string) error {
	name, err := os.Hostname()
	if err != nil {
		return err
	}
	return http.ListenAndServe(address, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, name)
	}))
}

func get(urls []string) error {
	client := http.Client{Timeout: 5 * time.Second}
	for _, url := range urls {
		answer, err := client.Get(url)
		if err != nil {
			return err
		}
		_, err = io.Copy(os.Stdout, answer.Body)
		answer.Body.Close()
		if err != nil {
			return err
		}
	}
	return nil
}
