// CoreDNS with the plugins that a local cluster needs; the stock build carries every cloud's.
package main

import (
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/coremain"

	_ "github.com/coredns/coredns/plugin/cache"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/health"
	_ "github.com/coredns/coredns/plugin/kubernetes"
	_ "github.com/coredns/coredns/plugin/ready"
	_ "github.com/coredns/coredns/plugin/reload"
	_ "github.com/coredns/coredns/plugin/template"
)

func main() {
	// The order is the order in which a query passes through them. In the stock order the template,
	// our no to all other names, would answer for the cluster's names too.
	dnsserver.Directives = []string{"reload", "errors", "health", "ready", "cache", "kubernetes", "template"}
	coremain.Run()
}
