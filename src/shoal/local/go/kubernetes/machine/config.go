package main

import (
	"encoding/json"
	"os"
)

// Config is one machine, as shoal writes it.
type Config struct {
	Hostname string    `json:"hostname"`
	Netns    string    `json:"netns"`   // a named network namespace; empty: share every namespace of the host
	Root     string    `json:"root"`    // where the private root is put together; empty: the host's
	Mounts   []Mount   `json:"mounts"`  // in order, below the private root
	Links    []Link    `json:"links"`   // symbolic links below the private root
	Devices  []string  `json:"devices"` // patterns below the host's /dev: nodes of its own for what they find
	Cgroups  []string  `json:"cgroups"` // folders in the cgroup hierarchies to live in
	Log      string    `json:"log"`
	Programs []Program `json:"programs"`
}

// Mount is a mount below the private root. Its kind is a file system's name, `bind` or `rbind`.
type Mount struct {
	Kind     string `json:"kind"`
	Source   string `json:"source"`
	Target   string `json:"target"`
	Options  string `json:"options"`
	ReadOnly bool   `json:"readOnly"`
}

// Link is a symbolic link.
type Link struct {
	Target string `json:"target"`
	Path   string `json:"path"`
}

// Program is kept running until the machine ends.
type Program struct {
	Name        string   `json:"name"`
	Argv        []string `json:"argv"`
	Environment []string `json:"environment"`
	Log         string   `json:"log"`
	After       []string `json:"after"` // files (sockets) that have to be there first
}

func readConfig(path string) (Config, error) {
	var config Config
	text, err := os.ReadFile(path)
	if err != nil {
		return config, err
	}
	return config, json.Unmarshal(text, &config)
}
