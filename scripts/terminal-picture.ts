/** Writes the README's picture of a terminal, `docs/terminal.svg`, from what the commands in it really print. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'

const root = join(import.meta.dirname, '..')
const title = 'Two clients change the same record, and the second one gets 412'

const declaration = `name: library
resources:
  authors:
    fields: { name: { type: string }, born: { type: integer, optional: true } }
    access: { read: anyone, create: anyone, update: anyone, delete: anyone, restore: anyone }
`

// The picture shows the lines that begin with `$`, and what they print. The others only prepare the next one.
const session = String.raw`
export KEY=$(resourced keys create --subject me 2>messages)
npx() { shift; exec resourced "$@"; }
ask() { curl -s -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' "$@"; }
show() { printf '$ %s\n' "$1"; eval "$1"; }
A=http://127.0.0.1:8080/v1/authors
exec 2>&1
$ npx resourced serve library.yaml --http --port 8080 --log-level warn &
server=$!
until ask -o record.json $A; do sleep 0.1; done
$ ask $A -d '{"name":"Ursula K. Le Guin"}' | tee record.json
ID=$(grep -o '[0-9a-f-]\{36\}' record.json)
TAG=$(ask -o record.json -w '%header{etag}' $A/$ID)
$ ask -i -X PATCH $A/$ID -H 'If-Match: TAG' -d '{"born":1929}' | grep 'HTTP\|ETag'
$ ask -i -X PATCH $A/$ID -H 'If-Match: TAG' -d '{"name":"Ursula"}' | grep -o 'HTTP.*\|"detail":"[^"]*"'
$ ask -i -X DELETE $A/$ID | grep HTTP
$ ask -X POST $A/$ID/restore
kill $server
wait $server
`

const columns = 112
const [advance, lineHeight, margin] = [8.43, 21, 24]

/** What a terminal shows of the session. */
function record(): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'resourced-picture-'))
  try {
    writeFileSync(join(folder, 'library.yaml'), declaration)
    symlinkSync(join(root, 'packages/server/src/cli/main.js'), join(folder, 'resourced'))
    const script = session
      .replace(/^\$ (.*)$/gm, (_, command: string) => `show ${quoted(command)}`)
      .replaceAll(': TAG', `: '"$TAG"'`)
    const path = [folder, dirname(process.execPath), process.env.PATH].join(delimiter)
    const printed = execFileSync('bash', ['-e', '-c', script], { cwd: folder, env: { ...process.env, PATH: path } })
    return String(printed).trimEnd().split('\n').flatMap(wrapped)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

/** A line as a terminal of so many columns wraps it. */
function wrapped(line: string): string[] {
  return line.trimEnd().match(new RegExp(`.{1,${columns}}`, 'g')) ?? ['']
}

function svgOf(lines: readonly string[]): string {
  const width = Math.ceil(columns * advance + 2 * margin)
  const height = lines.length * lineHeight + 2 * margin
  const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  const rows = lines.map((line, index) => {
    const y = margin + 15 + index * lineHeight
    const color = line.startsWith('$ ') ? '#7ee787' : /^HTTP\/1.1 4|"detail"/.test(line) ? '#ffa198' : '#e6edf3'
    return `  <text x="${margin}" y="${y}" fill="${color}" xml:space="preserve">${escaped(line)}</text>`
  })
  const size = `viewBox="0 0 ${width} ${height}" width="${width}" height="${height}"`
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img"
  font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14">
  <title>${title}</title>
  <rect width="100%" height="100%" rx="8" fill="#0d1117"/>
${rows.join('\n')}
</svg>
`
}

writeFileSync(join(root, 'docs/terminal.svg'), svgOf(record()))
