"""Rules of the stack file: functions of the whole settings that report faults."""
