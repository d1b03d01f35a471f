#!/usr/bin/env node
/** The command `resourced`. */
import './prepare-process.js'

await import('./program.ts')
