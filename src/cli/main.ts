#!/usr/bin/env node
/** The command `resourced`. What is compiled is kept for the next start, in the system's folder for temporary files. */
import { enableCompileCache } from 'node:module'

enableCompileCache()
await import('./program.ts')
