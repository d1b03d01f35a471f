import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { createLocalJWKSet, EncryptJWT, exportSPKI, type JWK } from 'jose'
import type { TokenRefusal } from './caller.ts'
import { assembled, audience, claimsAt, issuer, type Pair, pairOf, sign } from './jwt.fixture.ts'
import { asymmetricAlgorithms } from './jwt-settings.ts'
import { tokenVerifier } from './verify-token.ts'

const now = Date.UTC(2030, 0, 1)
const claims = claimsAt(now)
const ec = await pairOf('ec')
const rsa = await pairOf('rsa', 'RS256')
const stranger = await pairOf('ec')

interface Verifying {
  readonly at?: number
  readonly algorithms?: readonly string[]
}

/** Verifies with the given keys and a fixed clock. */
function judging(keys: readonly JWK[], options: Verifying = {}) {
  const { at = now, algorithms = asymmetricAlgorithms } = options
  const settings = { issuer, audience, keys: { file: '' }, algorithms, rolesClaim: 'roles' }
  return tokenVerifier(settings, createLocalJWKSet({ keys: [...keys] }), () => at)
}

/** The same error for every refused token. */
function verifying(keys: readonly JWK[], options: Verifying = {}) {
  const judge = judging(keys, options)
  return async (token: string) => {
    const found = await judge(token)
    return typeof found === 'string' ? undefined : found
  }
}
const verify = verifying([ec.jwk, rsa.jwk])
const isAccepted = async (token: string) => (await verify(token)) !== undefined

describe('AUT-2: every algorithm of the list', () => {
  for (const alg of asymmetricAlgorithms) {
    test(alg, async () => {
      const pair = await pairOf('a', alg)
      const token = await sign(pair, claims)
      assert.equal((await verifying([pair.jwk])(token))?.caller.id, 'ann')
      const others = asymmetricAlgorithms.filter((name) => name !== alg)
      assert.equal(await verifying([pair.jwk], { algorithms: others })(token), undefined, 'and not outside of the list')
    })
  }
})

describe('AUT-2: the claims', () => {
  const wrong: readonly [claim: string, ...values: unknown[]][] = [
    ['iss', undefined, null, '', 7, [issuer], {}, `${issuer}/`, issuer.toUpperCase(), 'https://other.example'],
    ['aud', undefined, null, '', 7, {}, [], ['https://other.example'], `${audience}/`, [[audience]]],
    ['exp', undefined, null, '', String(claims.exp), [claims.exp], {}, 0, -1, Math.floor(now / 1_000) - 30],
    ['nbf', null, '', '0', [0], {}, true, Math.floor(now / 1_000) + 31],
    ['iat', null, '', '0', {}],
    ['sub', undefined, null, '', 7, ['ann'], {}, 'a'.repeat(201), 'a\0b', '\ud800'],
  ]
  for (const [claim, ...values] of wrong) {
    for (const value of values) {
      test(`${claim} as ${JSON.stringify(value)?.slice(0, 30) ?? 'nothing'} is refused`, async () => {
        const { [claim]: _, ...rest } = claims
        const token = await sign(ec, value === undefined ? rest : { ...rest, [claim]: value })
        assert.equal(await isAccepted(token), false)
      })
    }
  }

  test('one of several audiences is enough, and a caller of any script', async () => {
    const found = await verify(
      await sign(ec, { ...claims, aud: ['x', audience], sub: 'Ćirić 王 😀', roles: ['editor'] }),
    )
    assert.deepEqual([found?.caller.id, found?.caller.roles], ['Ćirić 王 😀', ['editor']])
  })

  test('an infinite expiry is refused', async () => {
    const text = JSON.stringify(claims).replace(String(claims.exp), '1e999')
    assert.equal(await isAccepted(await signText(ec, text)), false)
  })

  test('claims must be an object', async () => {
    for (const text of ['[]', 'null', '"ann"', '7', '', '{', '{"sub":"ann"}x', '\ufeff{}']) {
      assert.equal(await isAccepted(await signText(ec, text)), false, text)
    }
  })
})

/** Signs any text in the place of claims. */
async function signText({ privateKey, kid, alg }: Pair, text: string): Promise<string> {
  const encode = (value: string) => Buffer.from(value).toString('base64url')
  const input = `${encode(JSON.stringify({ alg, kid }))}.${encode(text)}`
  const signed = await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, privateKey, Buffer.from(input))
  return `${input}.${Buffer.from(signed).toString('base64url')}`
}

describe('AUT-2: clocks may differ by 30 seconds', () => {
  const second = Math.floor(now / 1_000)
  const at = (time: number) => verifying([ec.jwk], { at: time })

  test('expiry: accepted until 30 seconds after it, to the millisecond', async () => {
    const token = await sign(ec, { ...claims, exp: second })
    assert.equal((await at(now + 29_999)(token))?.until, now + 30_000)
    assert.equal(await at(now + 30_000)(token), undefined)
  })
  test('an expiry with a fraction of a second ends with that second', async () => {
    const token = await sign(ec, { ...claims, exp: second + 0.5 })
    assert.equal((await at(now + 30_999)(token))?.until, now + 31_000)
    assert.equal(await at(now + 31_000)(token), undefined)
  })
  test('nbf: accepted from 30 seconds before it', async () => {
    const token = await sign(ec, { ...claims, nbf: second })
    assert.equal(await at(now - 30_001)(token), undefined)
    assert.equal((await at(now - 30_000)(token))?.caller.id, 'ann')
  })
})

describe('AUT-2: the header', () => {
  const headers: readonly [name: string, header: object, accepted: boolean][] = [
    ['no type', {}, true],
    ['typ JWT', { typ: 'JWT' }, true],
    ['typ at+jwt', { typ: 'at+jwt' }, true],
    ['typ application/AT+JWT', { typ: 'application/AT+JWT' }, true],
    ['another type', { typ: 'logout+jwt' }, false],
    ['a type of DPoP proofs', { typ: 'dpop+jwt' }, false],
    ['an empty type', { typ: '' }, false],
    ['a type that is no text', { typ: null }, false],
    ['a key id that is no text', { kid: 7 }, false],
    ['an unknown key id', { kid: 'other' }, false],
    ['no key id, and one key that fits', { kid: undefined }, true],
    ['a key id of another algorithm', { kid: 'rsa' }, false],
    ['addresses of keys, which nobody asks', { jku: 'http://127.0.0.1:1/', x5u: 'http://127.0.0.1:1/' }, true],
    ['an embedded key beside the right signature', { jwk: stranger.jwk }, true],
  ]
  for (const [name, header, accepted] of headers) {
    test(`${name} is ${accepted ? 'accepted' : 'refused'}`, async () => {
      assert.equal(await isAccepted(await sign(ec, claims, header)), accepted)
    })
  }

  test('extensions that must be understood are refused', async () => {
    for (const crit of [['exp'], ['b64'], [], 'exp', null]) {
      const token = assembled({ alg: 'ES256', kid: 'ec', crit, exp: 1, b64: true }, claims, 'AAAA')
      assert.equal(await isAccepted(token), false)
    }
  })

  test('without a key id, every suitable key is tried', async () => {
    const both = verifying([stranger.jwk, ec.jwk].map(({ kid: _, ...jwk }) => jwk))
    assert.ok(await both(await sign(ec, claims, { kid: undefined })))
    assert.ok(await both(await sign(stranger, claims, { kid: undefined })))
    assert.equal(await both(await sign(await pairOf('new'), claims, { kid: undefined })), undefined)
  })
})

describe('AUT-2: algorithm confusion', () => {
  const hmac = (secret: string | Buffer, header: object) => {
    const unsigned = assembled(header, claims).slice(0, -1)
    return `${unsigned}.${createHmac('sha256', secret).update(unsigned).digest('base64url')}`
  }

  test('an HMAC whose secret is the public key, in every form', async () => {
    for (const pair of [rsa, ec]) {
      const pem = await exportSPKI(pair.publicKey)
      const secrets = [pem, pem.trim(), `${pem}\n`, JSON.stringify(pair.jwk), pair.jwk.n ?? pair.jwk.x ?? '']
      const bytes = [Buffer.from(pem.replaceAll(/-.*-|\n/g, ''), 'base64'), Buffer.alloc(0)]
      for (const secret of [...secrets, ...bytes]) {
        for (const alg of ['HS256', 'hs256', pair.alg]) {
          assert.equal(await isAccepted(hmac(secret, { alg, kid: pair.kid })), false)
          assert.equal(await isAccepted(hmac(secret, { alg })), false)
        }
      }
    }
  })

  test('a shared secret among the published keys is no key', async () => {
    const secret = Buffer.from('hunter2hunter2hunter2hunter2hunt')
    const oct = { kty: 'oct', k: secret.toString('base64url'), kid: 'oct' }
    for (const alg of ['HS256', 'ES256', 'RS256']) {
      assert.equal(await verifying([oct])(hmac(secret, { alg, kid: 'oct' })), undefined)
    }
  })

  test('a token without a signature is refused under any name of the algorithm', async () => {
    const right = await sign(ec, claims)
    const signature = right.slice(right.lastIndexOf('.') + 1)
    for (const alg of ['none', 'None', 'NONE', 'nOnE', '', undefined, null, 0, ['ES256'], ['none']]) {
      for (const end of ['', 'AA', 'A'.repeat(86), signature]) {
        assert.equal(await isAccepted(assembled({ alg, kid: 'ec' }, claims, end)), false, `${alg} ${end}`)
      }
    }
    assert.equal(await isAccepted(right.slice(0, -signature.length)), false)
  })

  test('the name of an algorithm in another case', async () => {
    for (const alg of ['es256', 'Es256', 'ES256 ', 'eS256']) {
      const unsigned = assembled({ alg, kid: 'ec' }, claims).slice(0, -1)
      const signed = await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, ec.privateKey, Buffer.from(unsigned))
      assert.equal(await isAccepted(`${unsigned}.${Buffer.from(signed).toString('base64url')}`), false)
    }
  })

  test('the key of another algorithm', async () => {
    for (const alg of ['RS256', 'PS256', 'ES384', 'EdDSA']) {
      const other = await pairOf('ec', alg)
      assert.equal(await isAccepted(await sign(other, claims)), false)
    }
    const pss = await pairOf('rsa', 'PS256')
    assert.equal(await verifying([{ ...pss.jwk, alg: 'RS256' }])(await sign(pss, claims)), undefined)
  })

  test('a key id that was used before: a token of the old key', async () => {
    assert.equal(await isAccepted(await sign(stranger, claims)), false)
  })

  test('a key that the token itself contains is ignored', async () => {
    assert.equal(await isAccepted(await sign(stranger, claims, { jwk: stranger.jwk })), false)
    assert.equal(await isAccepted(await sign(stranger, claims, { kid: undefined, jwk: stranger.jwk })), false)
  })

  test('published keys that are private, for encryption, or too short are not used', async () => {
    const weak = await crypto.subtle.generateKey(
      { name: 'RSASSA-PKCS1-v1_5', modulusLength: 1_024, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' },
      true,
      ['sign', 'verify'],
    )
    const unsigned = assembled({ alg: 'RS256', kid: 'weak' }, claims).slice(0, -1)
    const signed = await crypto.subtle.sign('RSASSA-PKCS1-v1_5', weak.privateKey, Buffer.from(unsigned))
    const jwk = { ...(await crypto.subtle.exportKey('jwk', weak.publicKey)), kid: 'weak', key_ops: ['verify'] } as JWK
    const token = `${unsigned}.${Buffer.from(signed).toString('base64url')}`
    assert.equal(await verifying([jwk])(token), undefined)
    const whole = (await crypto.subtle.exportKey('jwk', ec.privateKey)) as JWK
    for (const key of [
      { ...ec.jwk, use: 'enc' },
      { ...ec.jwk, key_ops: ['sign'] },
      { ...whole, kid: 'ec', key_ops: ['verify'] },
      { ...ec.jwk, x: 'AAAA' },
      { kty: 'EC', kid: 'ec' },
    ]) {
      assert.equal(await verifying([key])(await sign(ec, claims)), undefined, JSON.stringify(key))
    }
  })
})

describe('AUT-2: the text of a token', () => {
  test('an encrypted token, and a nested token', async () => {
    const { publicKey } = await pairOf('x', 'RSA-OAEP-256')
    const header = { alg: 'RSA-OAEP-256', enc: 'A256GCM', kid: 'rsa' }
    const encrypted = await new EncryptJWT(claims).setProtectedHeader(header).encrypt(publicKey)
    assert.equal(encrypted.split('.').length, 5)
    assert.equal(await isAccepted(encrypted), false)
    assert.equal(await isAccepted(await signText(ec, await sign(ec, claims))), false)
  })

  test('tokens of up to 8 KiB are read', async () => {
    const padded = (length: number) => sign(ec, { ...claims, pad: 'x'.repeat(length) }, { kid: undefined })
    let length = 5_500
    while ((await padded(length)).length < 8_192) length++
    assert.equal((await padded(length)).length, 8_192)
    assert.equal(await isAccepted(await padded(length)), true)
    assert.equal((await padded(length + 1)).length, 8_194)
    assert.equal(await isAccepted(await padded(length + 1)), false)
  })

  test('a token that was changed anywhere is refused', async () => {
    const token = await sign(ec, claims)
    await fc.assert(
      fc.asyncProperty(fc.nat(token.length - 2), fc.integer({ min: 0x21, max: 0x7e }), async (place, unit) => {
        const changed = token.slice(0, place) + String.fromCharCode(unit) + token.slice(place + 1)
        assert.equal(await isAccepted(changed), changed === token)
      }),
      { numRuns: 1_000 },
    )
  })

  test('no text makes the function throw, and none is accepted', async () => {
    const part = fc.oneof(
      fc.base64String().map((text) => text.replaceAll(/[=+/]/g, '_')),
      fc.json().map((text) => Buffer.from(text).toString('base64url')),
      fc
        .record({ alg: fc.constantFrom('ES256', 'RS256', 'none', 'EdDSA'), kid: fc.constantFrom('ec', 'rsa', 7, null) })
        .map((header) => Buffer.from(JSON.stringify(header)).toString('base64url')),
      fc.string({ unit: 'binary' }),
    )
    const text = fc.oneof(
      fc.array(part, { minLength: 1, maxLength: 6 }).map((parts) => parts.join('.')),
      fc.string({ unit: 'binary' }),
    )
    await fc.assert(
      fc.asyncProperty(text, async (token) => assert.equal(await verify(token), undefined)),
      { numRuns: 2_000 },
    )
  })
})

describe('AUT-2: the reason of a refusal is one word for the log', () => {
  const judge = judging([ec.jwk, rsa.jwk])
  const second = Math.floor(now / 1_000)
  const signed = (more: object, header: object = {}) => sign(ec, { ...claims, ...more }, header)
  const tokens: readonly [reason: TokenRefusal, what: string, token: string | Promise<string>][] = [
    ['too-long', 'beyond 8 KiB', 'x'.repeat(8_193)],
    ['malformed', 'no JWT', 'a-secret'],
    ['malformed', 'a header that is no JSON', 'AAAA.AAAA.AAAA'],
    ['malformed', 'claims that are no JSON', signText(ec, '{')],
    ['malformed', 'an extension', assembled({ alg: 'ES256', kid: 'ec', crit: ['exp'], exp: 1 }, claims, 'AAAA')],
    ['type', 'the type of a logout token', signed({}, { typ: 'logout+jwt' })],
    ['algorithm', 'none', assembled({ alg: 'none' }, claims, 'AA')],
    ['algorithm', 'HS256', assembled({ alg: 'HS256', kid: 'ec' }, claims, 'AAAA')],
    ['unknown-key', 'another key id', signed({}, { kid: 'other' })],
    ['unknown-key', 'the key id of another algorithm', signed({}, { kid: 'rsa' })],
    ['signature', 'another key of that id', sign(stranger, claims)],
    ['issuer', 'another issuer', signed({ iss: 'https://other.example' })],
    ['issuer', 'no issuer', signed({ iss: undefined })],
    ['audience', 'another audience', signed({ aud: 'https://other.example' })],
    ['audience', 'no audience', signed({ aud: undefined })],
    ['not-yet-valid', 'nbf to come', signed({ nbf: second + 31 })],
    ['expired', 'exp past', signed({ exp: second - 30 })],
    ['claims', 'no exp', signed({ exp: undefined })],
    ['claims', 'an exp that is a text', signed({ exp: '7' })],
    ['claims', 'an nbf that is a text', signed({ nbf: '7' })],
    ['claims', 'an exp without end', signText(ec, JSON.stringify(claims).replace(String(claims.exp), '1e999'))],
    ['claims', 'no sub', signed({ sub: undefined })],
    ['claims', 'a sub that is none', signed({ sub: 'a'.repeat(201) })],
  ]
  for (const [reason, what, token] of tokens) {
    test(`${reason}: ${what}`, async () => assert.equal(await judge(await token), reason))
  }

  test('unusable-key: a broken key', async () => {
    assert.equal(await judging([{ ...ec.jwk, x: 'AAAA' }])(await sign(ec, claims)), 'unusable-key')
  })

  test('with several possible keys, the reason is that of the key that fits', async () => {
    const both = judging([ec.jwk, stranger.jwk].map(({ kid: _, ...jwk }) => jwk))
    const of = async (pair: Pair, exp: number) => both(await sign(pair, { ...claims, exp }, { kid: undefined }))
    assert.deepEqual([await of(ec, 1), await of(stranger, 1)], ['expired', 'expired'])
    assert.equal(await of(await pairOf('new'), 1), 'signature')
  })
})
