/**
 * Opens many connections that send a byte now and then: `node trickle.ts PORT COUNT`. Says when all are open, then when
 * all were cut off.
 */
import { connect } from 'node:net'

const [, , port = '', count = ''] = process.argv
const halves = [
  'GET /v1/tasks HTTP/1.1\r\nHost: a\r\nX-Slow: ',
  'POST /v1/tasks HTTP/1.1\r\nHost: a\r\nContent-Length: 9000\r\n\r\n',
]
let open = 0
let closed = 0
for (let number = 0; number < Number(count); number++) {
  const socket = connect(Number(port), '127.0.0.1', () => {
    socket.write(halves[number % 2] as string)
    open++
    if (open === Number(count)) process.stdout.write('open\n')
  })
  const timer = setInterval(() => socket.writable && socket.write('x'), 500)
  socket.on('data', () => {})
  socket.on('error', () => {})
  socket.on('close', () => {
    clearInterval(timer)
    closed++
    if (closed === Number(count)) process.stdout.write('closed\n')
  })
}
