/** PAG: pages. */
import type { Case } from '../case/case.ts'
import { cursorCases } from './pages-cursors.ts'
import { linkCases } from './pages-links.ts'
import { sizeCases } from './pages-sizes.ts'
import { styleCases } from './pages-styles.ts'
import { totalCases } from './pages-totals.ts'

export const pages: readonly Case[] = [...sizeCases, ...styleCases, ...totalCases, ...cursorCases, ...linkCases]
