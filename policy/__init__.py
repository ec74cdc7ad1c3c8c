"""What must never be, whatever a stack file says: pure rules over one resource, run by every plan and by Pulumi."""
