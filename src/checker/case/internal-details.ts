/** Recognizes internal details in responses: stack traces, SQL, paths of files (ERR-4). */

const details: readonly (readonly [what: string, pattern: RegExp])[] = [
  ['a stack trace', /^\s+at (?:[\w$.<>[\] ]+\(.*\)|.+:\d+:\d+$)/m],
  ['a stack trace', /\\n(?:\s|\\t)+at \S+/],
  ['a stack trace', /Traceback \(most recent call last\)/],
  ['a stack trace', /File "[^"]+", line \d+/],
  ['a stack trace', /\bgoroutine \d+ \[/],
  ['a stack trace', /\b[\w./-]+\.(?:java|kt|scala|cs|go|rs|py|rb|php|exs?|m?[jt]sx?):\d+/],
  ['a stack trace', /\.php<?\/?b?>? on line /],
  [
    'the message of a failure',
    /\b(?:Cannot read propert|is not a function|NullPointerException|NullReferenceException)/,
  ],
  ['the message of a failure', /\b(?:nil pointer dereference|undefined method `|Object reference not set)/],
  ['the message of a failure', /\bUncaught |\bUnhandled(?:PromiseRejection| exception)/],
  ['SQL', /\bSELECT\s.+\sFROM\s|\bINSERT\s+INTO\s|\bDELETE\s+FROM\s/],
  ['SQL', /\bselect\s.+\sfrom\s+\S+\s+(?:where|limit|order by|group by|(?:left |inner )?join)\b/i],
  ['SQL', /\binsert\s+into\s+\S+\s*(?:\(|values)|\bdelete\s+from\s+\S+\s+where\b|\bupdate\s+\S+\s+set\s+\S+\s*=/i],
  [
    'an error of the database',
    /\bSQLSTATE\b|\bSQLITE_|\bORA-\d{5}\b|\bPG::|\bER_[A-Z]+_[A-Z_]+|\bMongo\w*Error\b|\bPrisma/,
  ],
  ['an error of the database', /syntax error at or near|near "[^"]*": syntax error|unrecognized token: "/],
  ['an error of the database', /invalid byte sequence for encoding|violates [\w-]+ constraint|constraint failed/i],
  ['an error of the database', /invalid input syntax for|out of range for type|no such (?:column|table): /],
  ['the path of a file', /(?<![\w/%.-])\/(?:home|usr|var|opt|srv|app|root|tmp|Users|workspace)\/[\w.-]+\/[\w.-]+/],
  ['the path of a file', /\b[A-Z]:\\\\?[\w.-]+\\/],
  ['the path of a file', /\bnode_modules[/\\]|\bfile:\/\/\/|\bsite-packages\//],
]

/** The internal detail that a text discloses; `undefined` if none is recognized. */
export function internalDetailIn(text: string): string | undefined {
  for (const [what, pattern] of details) {
    const found = pattern.exec(text)
    if (found !== null) return `${what}: ${found[0].trim().slice(0, 120)}`
  }
  return undefined
}
