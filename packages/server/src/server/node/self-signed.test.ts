import assert from 'node:assert/strict'
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { generate } from 'selfsigned'
import { selfSigned } from './self-signed.ts'

const from = new Date('2026-01-31T23:59:58Z')
const until = new Date('2027-12-01T00:00:00Z')

test('the certificate is the one that another implementation makes, but for its key, number and signature', async () => {
  const { cert } = await generate([{ name: 'commonName', value: 'Ünïcode' }], {
    keyType: 'ec',
    curve: 'P-256',
    algorithm: 'sha256',
    notBeforeDate: from,
    notAfterDate: until,
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'localhost' },
          { type: 7, ip: '127.0.0.1' },
          { type: 7, ip: '::1' },
        ],
      },
    ],
  })
  const facts = (pem: string) => {
    const { subject, issuer, ca, keyUsage, subjectAltName, validFrom, validTo, publicKey } = new X509Certificate(pem)
    const { asymmetricKeyType, asymmetricKeyDetails } = publicKey
    return {
      ...{ subject, issuer, ca, keyUsage, subjectAltName, validFrom, validTo },
      ...{ asymmetricKeyType, asymmetricKeyDetails },
    }
  }
  assert.deepEqual(facts(selfSigned('Ünïcode', from, until).cert), facts(cert))
})

test('each certificate is signed with its own key, and has a positive number of its own', () => {
  const made = Array.from({ length: 50 }, () => selfSigned('here', from, until))
  const certificates = made.map(({ cert }) => new X509Certificate(cert))
  for (const [index, certificate] of certificates.entries()) {
    assert.ok(certificate.verify(certificate.publicKey))
    assert.ok(certificate.checkPrivateKey(createPrivateKey(made[index]?.key ?? '')))
    assert.match(certificate.serialNumber, /^[4-7][0-9A-F]{31}$/)
  }
  assert.equal(new Set(certificates.map(({ serialNumber }) => serialNumber)).size, 50)
})

test('dates before and after 2050 are read as they were given', () => {
  const dates = ['1999-12-31T23:59:59.000Z', '2049-12-31T23:59:59.000Z', '2050-01-01T00:00:00.000Z']
  for (const date of dates) {
    const { validFromDate, validToDate } = new X509Certificate(selfSigned('here', new Date(date), new Date(date)).cert)
    assert.deepEqual(
      [validFromDate, validToDate].map((each) => each.toISOString()),
      [date, date],
    )
  }
})

test('names of any length are written', () => {
  // The content of the certificate needs one byte, two or three for its own length.
  for (const length of [1, 60, 127, 128, 200, 255, 256, 400, 3_000]) {
    const name = 'x'.repeat(length)
    const { subject } = new X509Certificate(selfSigned(name, from, until).cert)
    assert.equal(subject, `CN=${name}`)
  }
})
