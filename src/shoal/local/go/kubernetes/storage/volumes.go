package main

import (
	"context"
	"os"
	"path/filepath"

	core "k8s.io/api/core/v1"
	storage "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
)

// provide makes the folder and the volume that a pending claim of our class asks for.
func (p *provisioner) provide(ctx context.Context, namespace, name string) error {
	claim, err := p.claims.PersistentVolumeClaims(namespace).Get(name)
	if errors.IsNotFound(err) {
		return nil
	}
	if err != nil || claim.Status.Phase != core.ClaimPending || claim.Spec.VolumeName != "" {
		return err
	}
	class, err := p.classOf(claim)
	if err != nil || class == nil {
		return err
	}
	volume := newVolume(claim, class)
	volume.Spec.Local = &core.LocalVolumeSource{Path: p.folder(volume)}
	// Any uid may write, as no fsGroup is asked of a plain pod.
	if err := os.MkdirAll(p.folder(volume), 0o777); err != nil {
		return err
	}
	if err := os.Chmod(p.folder(volume), 0o777); err != nil {
		return err
	}
	_, err = p.client.CoreV1().PersistentVolumes().Create(ctx, volume, meta.CreateOptions{})
	if errors.IsAlreadyExists(err) {
		return nil
	}
	if err == nil {
		klog.InfoS("volume made", "volume", volume.Name, "claim", klog.KObj(claim))
	}
	return err
}

// classOf returns the claim's class where it is one of ours.
func (p *provisioner) classOf(claim *core.PersistentVolumeClaim) (*storage.StorageClass, error) {
	name := ptr.Deref(claim.Spec.StorageClassName, "")
	if name == "" || ptr.Deref(claim.Spec.VolumeMode, core.PersistentVolumeFilesystem) != core.PersistentVolumeFilesystem {
		return nil, nil
	}
	class, err := p.classes.Get(name)
	if errors.IsNotFound(err) || (err == nil && class.Provisioner != Name) {
		return nil, nil
	}
	return class, err
}

func newVolume(claim *core.PersistentVolumeClaim, class *storage.StorageClass) *core.PersistentVolume {
	return &core.PersistentVolume{
		ObjectMeta: meta.ObjectMeta{
			Name:        "pvc-" + string(claim.UID),
			Annotations: map[string]string{provisionedBy: Name},
		},
		Spec: core.PersistentVolumeSpec{
			Capacity:    core.ResourceList{core.ResourceStorage: claim.Spec.Resources.Requests[core.ResourceStorage]},
			AccessModes: claim.Spec.AccessModes,
			ClaimRef: &core.ObjectReference{
				APIVersion: "v1", Kind: "PersistentVolumeClaim",
				Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID,
			},
			PersistentVolumeReclaimPolicy: ptr.Deref(class.ReclaimPolicy, core.PersistentVolumeReclaimDelete),
			StorageClassName:              class.Name,
			MountOptions:                  class.MountOptions,
			// A local volume (unlike a hostPath one) honours fsGroup, and must name its nodes: all.
			NodeAffinity: &core.VolumeNodeAffinity{Required: &core.NodeSelector{
				NodeSelectorTerms: []core.NodeSelectorTerm{{
					MatchExpressions: []core.NodeSelectorRequirement{{
						Key: core.LabelOSStable, Operator: core.NodeSelectorOpIn, Values: []string{"linux"},
					}},
				}},
			}},
		},
	}
}

// reclaim deletes the folder and the volume of a claim that is gone, where the policy says so.
func (p *provisioner) reclaim(ctx context.Context, name string) error {
	volume, err := p.volumes.Get(name)
	if errors.IsNotFound(err) {
		return nil
	}
	if err != nil || volume.Annotations[provisionedBy] != Name || volume.Status.Phase != core.VolumeReleased ||
		volume.Spec.PersistentVolumeReclaimPolicy != core.PersistentVolumeReclaimDelete {
		return err
	}
	// Aside first: a half deleted folder must never be found under a volume's name.
	gone := filepath.Join(p.root, ".gone-"+filepath.Base(volume.Name))
	if err := os.Rename(p.folder(volume), gone); err != nil && !os.IsNotExist(err) {
		return err
	}
	if err := os.RemoveAll(gone); err != nil {
		return err
	}
	err = p.client.CoreV1().PersistentVolumes().Delete(ctx, name, meta.DeleteOptions{
		Preconditions: meta.NewUIDPreconditions(string(volume.UID)),
	})
	if errors.IsNotFound(err) {
		return nil
	}
	return err
}
