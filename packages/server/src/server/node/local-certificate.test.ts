import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { localCertificate } from './certificates.ts'

const root = await mkdtemp(join(tmpdir(), 'resourced-tls-'))
after(() => rm(root, { recursive: true }))
const folder = join(root, 'certificates')
const day = 86_400_000

test('a local certificate is made, with a key that only its owner can read, and reused', async () => {
  const made = await localCertificate(folder)
  const certificate = new X509Certificate(made.cert)
  for (const name of ['localhost']) assert.equal(certificate.checkHost(name), name)
  for (const address of ['127.0.0.1', '::1']) assert.equal(certificate.checkIP(address), address)
  assert.equal(certificate.ca, false)
  assert.equal(await readFile(made.caFile, 'utf8'), made.cert)
  assert.doesNotMatch(made.cert, /PRIVATE/)
  assert.equal((await stat(join(folder, 'localhost-key.pem'))).mode & 0o777, 0o600)
  assert.equal((await stat(folder)).mode & 0o777, 0o700)
  assert.deepEqual(await localCertificate(folder), made)
  assert.equal((await readdir(folder)).length, 2)
})

test('it is renewed thirty days before it expires, and not earlier', async () => {
  const made = await localCertificate(folder)
  const end = new X509Certificate(made.cert).validToDate.getTime()
  assert.equal((await localCertificate(folder, end - 31 * day)).cert, made.cert)
  const renewed = await localCertificate(folder, end - 30 * day)
  assert.notEqual(renewed.cert, made.cert)
  assert.equal(await readFile(renewed.caFile, 'utf8'), renewed.cert)
  await rm(folder, { recursive: true })
})

test('an unreadable file is replaced, and a lost public copy is written again', async () => {
  const made = await localCertificate(folder)
  await rm(made.caFile)
  assert.equal((await localCertificate(folder)).cert, made.cert)
  assert.equal(await readFile(made.caFile, 'utf8'), made.cert)
  await writeFile(join(folder, 'localhost-key.pem'), 'half a fi')
  assert.notEqual((await localCertificate(folder)).cert, made.cert)
})

test('processes that start at once get the same certificate', async () => {
  const shared = join(root, 'shared')
  const made = await Promise.all(Array.from({ length: 8 }, () => localCertificate(shared)))
  assert.equal(new Set(made.map(({ cert }) => cert)).size, 1)
  assert.equal((await readdir(shared)).length, 2)
})
