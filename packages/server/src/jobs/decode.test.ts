import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decoded, EncodingError } from './decode.ts'

/** The text of a file that arrives in pieces of this many bytes, or why it cannot be read. */
async function read(file: Uint8Array, encoding?: string, piece = 3): Promise<string> {
  async function* pieces() {
    for (let at = 0; at < file.length; at += piece) yield file.subarray(at, at + piece)
  }
  const found: Uint8Array[] = []
  try {
    for await (const chunk of decoded(pieces(), encoding)) found.push(chunk)
  } catch (error) {
    if (!(error instanceof EncodingError)) throw error
    return `${error.line}: ${error.message}`
  }
  return Buffer.concat(found).toString()
}

const text = 'name,city\nZoë,Århus\nИван,Москва\n'
const little = Buffer.from(text, 'utf16le')
const big = Buffer.from(little).swap16()
const latin = Buffer.from('name,city\nZoë,Århus\n', 'latin1')
const mark = Buffer.from('\uFEFF')

test('the byte order mark says the encoding, and is removed', async () => {
  for (const piece of [1, 2, 3, 1_000]) {
    assert.equal(await read(Buffer.from(text), undefined, piece), text)
    assert.equal(await read(Buffer.concat([mark, Buffer.from(text)]), undefined, piece), text)
    assert.equal(await read(Buffer.concat([Buffer.from([0xff, 0xfe]), little]), undefined, piece), text)
    assert.equal(await read(Buffer.concat([Buffer.from([0xfe, 0xff]), big]), undefined, piece), text)
  }
})

test('a file without a mark has the encoding that is said, by any of its names', async () => {
  for (const label of ['latin1', 'windows-1252', 'ISO-8859-1']) {
    assert.equal(await read(latin, label), 'name,city\nZoë,Århus\n')
  }
  assert.equal(await read(little, 'utf-16le'), text)
  assert.equal(await read(big, 'utf-16be'), text)
  // In windows-1252 it is the euro, in ISO 8859-1 a control character.
  assert.equal(await read(Uint8Array.of(0x80), 'latin1'), '€')
})

test('an empty file, and one of a single byte', async () => {
  assert.equal(await read(new Uint8Array()), '')
  assert.equal(await read(Buffer.from('a')), 'a')
  assert.equal(await read(new Uint8Array(), 'utf-16le'), '')
})

test('another encoding than the one that is said is named', async () => {
  assert.equal(await read(little), '1: The file is not UTF-8: it looks like utf-16le. Say --encoding utf-16le.')
  assert.equal(await read(big, 'utf-8'), '1: The file is not UTF-8: it looks like utf-16be. Say --encoding utf-16be.')
  assert.equal(await read(big, 'utf-16le'), '1: The file looks like utf-16be, not utf-16le. Say --encoding utf-16be.')
  const utf8 = Buffer.from('name\nZoë\n')
  for (const said of ['latin1', 'utf-16le']) {
    assert.match(await read(utf8, said, 100), /^1: The file is UTF-8, not .* Leave --encoding out\.$/)
  }
  const marked = Buffer.concat([Buffer.from([0xff, 0xfe]), little])
  const found = '1: The file begins with the byte order mark of utf-16le, so it is not windows-1252.'
  assert.equal(await read(marked, 'latin1'), `${found} Leave --encoding out.`)
})

test('bytes that the encoding does not have are found with their line', async () => {
  // Half of a surrogate pair, in the third line.
  const broken = Buffer.concat([Buffer.from('a\nb\n', 'utf16le'), Uint8Array.of(0x00, 0xd8, 0x41, 0x00)])
  assert.match(await read(broken, 'utf-16le', 4), /^3: The file is not utf-16le from about here on\./)
})
