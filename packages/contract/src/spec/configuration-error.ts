/** A setting that cannot be used: the message says what to set instead. */
export class ConfigurationError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ConfigurationError'
  }
}

/** A command line that is wrong by itself: an option, an argument or a value. Commands exit with 2, not with 1. */
export class UsageError extends ConfigurationError {}
