// storage provisions a local cluster's volumes: each is a folder that every node sees, so one
// class serves ReadWriteOnce and ReadWriteMany alike.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	core "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	listers "k8s.io/client-go/listers/core/v1"
	storagelisters "k8s.io/client-go/listers/storage/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
)

// Name is what a StorageClass calls us.
const Name = "shoal.local/folders"

const provisionedBy = "pv.kubernetes.io/provisioned-by"

type key struct{ kind, namespace, name string }

type provisioner struct {
	client  kubernetes.Interface
	root    string
	claims  listers.PersistentVolumeClaimLister
	volumes listers.PersistentVolumeLister
	classes storagelisters.StorageClassLister
	queue   workqueue.TypedRateLimitingInterface[key]
}

func main() {
	kubeconfig := flag.String("kubeconfig", "", "how to reach the API server")
	root := flag.String("root", "/var/lib/shoal/volumes", "where the folders are, on every node")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := run(ctx, *kubeconfig, *root); err != nil {
		fmt.Fprintln(os.Stderr, "storage:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, kubeconfig, root string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(client, 10*time.Minute)
	p := &provisioner{
		client:  client,
		root:    root,
		claims:  factory.Core().V1().PersistentVolumeClaims().Lister(),
		volumes: factory.Core().V1().PersistentVolumes().Lister(),
		classes: factory.Storage().V1().StorageClasses().Lister(),
		queue: workqueue.NewTypedRateLimitingQueue(
			workqueue.NewTypedItemExponentialFailureRateLimiter[key](100*time.Millisecond, 30*time.Second)),
	}
	watch(factory.Core().V1().PersistentVolumeClaims().Informer(), "claim", p.queue)
	watch(factory.Core().V1().PersistentVolumes().Informer(), "volume", p.queue)
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	go func() {
		<-ctx.Done()
		p.queue.ShutDown()
	}()
	for p.next(ctx) {
	}
	return nil
}

func watch(informer cache.SharedIndexInformer, kind string, queue workqueue.TypedRateLimitingInterface[key]) {
	enqueue := func(object any) {
		if full, err := cache.MetaNamespaceKeyFunc(object); err == nil {
			namespace, name, _ := cache.SplitMetaNamespaceKey(full)
			queue.Add(key{kind, namespace, name})
		}
	}
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    enqueue,
		UpdateFunc: func(_, object any) { enqueue(object) },
	})
	if err != nil {
		klog.Fatal(err)
	}
}

func (p *provisioner) next(ctx context.Context) bool {
	item, stopped := p.queue.Get()
	if stopped {
		return false
	}
	defer p.queue.Done(item)
	var err error
	switch item.kind {
	case "claim":
		err = p.provide(ctx, item.namespace, item.name)
	case "volume":
		err = p.reclaim(ctx, item.name)
	}
	if err != nil {
		klog.ErrorS(err, "again later", "kind", item.kind, "namespace", item.namespace, "name", item.name)
		p.queue.AddRateLimited(item)
		return true
	}
	p.queue.Forget(item)
	return true
}

// folder returns where a volume's data are; a name from the API never leaves the root.
func (p *provisioner) folder(volume *core.PersistentVolume) string {
	return filepath.Join(p.root, filepath.Base(volume.Name))
}
