#!/usr/bin/env node
/** The command `resourced`. */
import './compile-cache.js'

await import('./program.ts')
