/** Standard output of commands that print and end. */

/** Prints text. A reader that has seen enough, such as `head`, ends the command without an error. */
export function print(text: string): void {
  if (process.stdout.listenerCount('error') === 0) process.stdout.on('error', endQuietly)
  process.stdout.write(text)
}

function endQuietly(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error
  process.exit()
}
