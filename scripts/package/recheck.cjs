/** The analysis of patterns, unpacked when a declaration needs it: it is larger than the rest of the program. */
const { readFileSync } = require('node:fs')
const { join } = require('node:path')
const { compileFunction } = require('node:vm')
const { brotliDecompressSync } = require('node:zlib')

const code = brotliDecompressSync(readFileSync(join(__dirname, 'recheck.br'))).toString('utf8')
compileFunction(code, ['module', 'exports'], { filename: 'recheck' })(module, exports)
