/**
 * Keeps the test runner from tracking every promise and socket of a test, which takes an eighth of the processor time
 * of tests that do much. The runner then cannot name the test of an error that is thrown outside of its promises; the
 * file fails all the same, and the runner prints the error. `scripts/test.ts` loads this file before a test file; a
 * file that you run by itself has errors named.
 */
import { createHook } from 'node:async_hooks'

const hooks = Object.getPrototypeOf(createHook({}))
const { enable } = hooks
hooks.enable = function () {
  return /node:internal\/test_runner\//.test(new Error().stack ?? '') ? this : enable.call(this)
}
