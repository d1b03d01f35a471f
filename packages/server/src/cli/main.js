#!/usr/bin/env node
/** The command `resourced`. */
import './prepare-process.js'

const { main } = await import('./program.ts')
await main()
