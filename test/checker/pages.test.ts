import { pages } from '../../src/checker/cases/pages.ts'
import { pagesFaults } from './faults/pages.ts'
import { tryFaults } from './try-faults.ts'

tryFaults('PAG', pages, pagesFaults)
