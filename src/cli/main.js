#!/usr/bin/env -S node --max-semi-space-size=4 --heap-growing-percent=40
/**
 * The command `resourced`. What a request leaves behind is gone after it: more room for it would be memory, and no
 * speed.
 */
import './compile-cache.js'

await import('./program.ts')
