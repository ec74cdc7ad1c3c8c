//go:build tools

// Package tools names the Pulumi CLI as a dependency, so that go.mod and go.sum hold every module it is built from.
// ops/engine/pulumi_cli_get.py builds it where no release can be downloaded.
package tools

import _ "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi"
