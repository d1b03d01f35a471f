/** Credentials: their secrets, the variants that cases send, and their removal from texts. */
import type { Fields } from './exchange.ts'

/** The secret in a header field's value, without the name of its scheme (`Bearer`). */
function secretIn(value: string): string {
  return value.slice(value.indexOf(' ') + 1)
}

/** The secret of a credential; `undefined` if there is no credential. */
export function keyOf(credential: Fields): string | undefined {
  return credential[0] && secretIn(credential[0][1])
}

/** Whether a credential is sent in Authorization, in another scheme than Bearer. */
export function isOtherScheme(credential: Fields): boolean {
  return credential.some(([name, value]) => name.toLowerCase() === 'authorization' && !/^bearer /i.test(value))
}

/** A secret with another character in its middle. At the end of an encoded text a change may mean the same. */
export function altered(key: string): string {
  const middle = Math.floor(key.length / 2)
  return key.slice(0, middle) + (key[middle] === 'A' ? 'B' : 'A') + key.slice(middle + 1)
}

/** A secret of the same length that is no credential. */
export function wrongSecret(secret: string): string {
  // Basic: the same user with another password.
  const [, user, password] =
    /^([\x20-\x39\x3b-\x7e]+):([\x20-\x7e]+)$/.exec(Buffer.from(secret, 'base64').toString()) ?? []
  return user === undefined || password === undefined
    ? 'x'.repeat(secret.length)
    : Buffer.from(`${user}:${'x'.repeat(password.length)}`).toString('base64')
}

export function alteredCredential(credential: Fields): Fields {
  return credential.map(([name, value]) => {
    const secret = secretIn(value)
    return [name, value.slice(0, value.length - secret.length) + altered(secret)]
  })
}

/** An invalid credential of the same kind and length. */
export function wrongCredential(credential: Fields): Fields {
  return credential.map(([name, value]) => {
    const secret = secretIn(value)
    return [name, value.slice(0, value.length - secret.length) + wrongSecret(secret)]
  })
}

/** Replaces the secrets of credentials in a text with `***`. */
export function hideSecrets(credentials: readonly (Fields | undefined)[]): (text: string) => string {
  return replaceAll(credentials.flatMap((fields = []) => fields.map(([, value]) => [secretIn(value), '***'] as const)))
}

/**
 * Replaces secrets in a text, and altered secrets, with the variables of a shell: `$KEY`.
 *
 * @param credentials by the name of their variable
 */
export function nameSecrets(credentials: Readonly<Record<string, Fields>>): (text: string) => string {
  return replaceAll(
    Object.entries(credentials).flatMap(([name, fields]) =>
      fields.flatMap(([, value], index) => {
        const secret = secretIn(value)
        const variable = `$${name}${index === 0 ? '' : index + 1}`
        return [[secret, variable] as const, [altered(secret), `${variable}-altered`] as const]
      }),
    ),
  )
}

function replaceAll(replacements: readonly (readonly [secret: string, name: string])[]): (text: string) => string {
  const usable = replacements.filter(([secret]) => secret.length > 1)
  return (text) => usable.reduce((rest, [secret, name]) => rest.replaceAll(secret, name), text)
}
