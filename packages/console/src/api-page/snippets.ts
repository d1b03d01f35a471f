/**
 * A request as code: a command of curl, TypeScript and Python. The key is never a part of the code: it is read from
 * the environment variable KEY.
 */

/** A request that was or could be sent. */
export interface SnippetRequest {
  readonly method: string
  readonly url: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** Text, usually JSON. */
  readonly body?: string | undefined
}

/** Writes a command for a POSIX shell. */
export function curlSnippet({ method, url, headers, body }: SnippetRequest): string {
  const lines = [
    method === 'HEAD' ? `curl --head ${shellText(url)}` : `curl -X ${method} ${shellText(url)}`,
    '-H "Authorization: Bearer $KEY"',
    // curl drops a header without a value, unless a semicolon ends it.
    ...headers.map(([name, value]) => `-H ${shellText(value === '' ? `${name};` : `${name}: ${value}`)}`),
  ]
  // --data-raw reads no file where the text begins with @.
  if (body !== undefined) lines.push(`--data-raw ${shellText(body)}`)
  return lines.join(' \\\n  ')
}

/** Writes a module for Node.js. */
export function typeScriptSnippet({ method, url, headers, body }: SnippetRequest): string {
  const fields = headers.map(([name, value]) => `    ${codeText(name)}: ${codeText(value)},`)
  const lines = [
    `const response = await fetch(${codeText(url)}, {`,
    `  method: ${codeText(method)},`,
    '  headers: {',
    `    Authorization: \`Bearer \${process.env.KEY}\`,`,
    ...fields,
    '  },',
  ]
  if (body !== undefined) lines.push(`  body: ${typeScriptBody(body)},`)
  return [...lines, '})', 'console.log(response.status, await response.text())'].join('\n')
}

/** Writes a program that uses `requests`. */
export function pythonSnippet({ method, url, headers, body }: SnippetRequest): string {
  const lines = [
    'import os',
    '',
    'import requests',
    '',
    'response = requests.request(',
    `    ${pythonText(method)},`,
    `    ${pythonText(url)},`,
    '    headers={',
    `        "Authorization": f"Bearer {os.environ['KEY']}",`,
    ...headers.map(([name, value]) => `        ${pythonText(name)}: ${pythonText(value)},`),
    '    },',
  ]
  if (body !== undefined) lines.push(`    data=${pythonText(body)}.encode(),`)
  return [...lines, ')', 'print(response.status_code, response.text)'].join('\n')
}

/** In single quotes a shell replaces nothing. */
function shellText(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** JSON is also a literal of JavaScript. */
function codeText(text: string): string {
  return /["\\\p{Cc}]/u.test(text) || text.includes("'") ? JSON.stringify(text) : `'${text}'`
}

/** Python lacks only the escape of a slash, which JSON.stringify() never writes. */
function pythonText(text: string): string {
  return JSON.stringify(text)
}

/** JSON as an object literal, where the literal has the same meaning; otherwise as a text. */
function typeScriptBody(body: string): string {
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch {
    return codeText(body)
  }
  // A literal rounds long numbers, keeps the last of two equal names, and gives `__proto__` a meaning of its own.
  const isExact = JSON.stringify(value) === withoutSpaces(body) && !body.includes('__proto__')
  if (!isExact) return codeText(body)
  return `JSON.stringify(${JSON.stringify(value, undefined, 2).replaceAll('\n', '\n  ')})`
}

/** JSON without the spaces between its tokens. */
function withoutSpaces(json: string): string {
  return json.replace(/("(?:[^"\\]|\\.)*")|\s+/g, (_, text?: string) => text ?? '')
}
