/**
 * AUT-3 to AUT-7: an eighth of the permission matrix, the same one in every run. A rule that is not applied fails in
 * many cells. `permissions.release.test.ts` checks all of them.
 */
import { describe } from 'node:test'
import { checkMatrix } from './permissions/matrix.ts'

describe('an eighth of the permission matrix', () => checkMatrix(8))
