"""Rules for the recorded resources of a stack. The plan, the tests and the policy engine of Pulumi run them."""
