/** Faults of pages. */
import type { Fault } from '../planted.ts'
import { cursorFaults } from './pages-cursors.ts'
import { sizeFaults } from './pages-sizes.ts'
import { tellingFaults } from './pages-telling.ts'

export const pagesFaults: readonly Fault[] = [...sizeFaults, ...tellingFaults, ...cursorFaults]
