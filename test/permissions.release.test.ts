/** AUT-3 to AUT-7: the whole permission matrix, which takes minutes. */
import { describe } from 'node:test'
import { checkMatrix } from './permissions/matrix.ts'

describe('the permission matrix', () => checkMatrix(1))
