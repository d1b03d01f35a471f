/** Numbers whose texts engines and JavaScript write differently, and as many others by chance. */
import fc from 'fast-check'

const halfway = Array.from({ length: 24 }, (_, power) => [5n ** BigInt(power), 3n * 5n ** BigInt(power)]).flat()

/** Each of them, and its negative. */
export function oddNumbers(): number[] {
  const bounds = [
    1e-4, 1e-5, 1e-6, 1e-7, 1e-99, 1e-100, 1e15, 1e16, 1e17, 1e20, 1e21, 1e22, 1e23, 1e41, 1e99, 1e100, 1e300,
  ]
  const steps = bounds.flatMap((bound) => [
    bound,
    bound * (1 - Number.EPSILON),
    bound * (1 + Number.EPSILON),
    bound * 1.5,
  ])
  // Texts of few digits that lie in the middle between two numbers.
  const middles = halfway.flatMap((odd) => [60, 63, 65, 70, 77].map((power) => Number(odd << BigInt(power))))
  const limits = [
    0,
    5e-324,
    2.2250738585072014e-308,
    Number.MAX_VALUE,
    2 ** 53,
    2 ** 53 - 1,
    2 ** 53 + 2,
    2 ** 52 + 0.5,
    2 ** 51 + 0.25,
  ]
  const short = [
    0.1,
    0.1 + 0.2,
    1 / 3,
    100.1,
    9.5e-5,
    1.5e-10,
    123456789.12345679,
    999999999999999.9,
    2.10060742450878e17,
    5e22,
  ]
  const any = fc.sample(fc.double({ noNaN: true, noDefaultInfinity: true }), 3_000)
  const large = fc.sample(fc.double({ noNaN: true, min: 2 ** 53, max: 1e41 }), 3_000)
  const few = fc.sample(fc.tuple(fc.integer({ min: 1, max: 99_999 }), fc.integer({ min: -30, max: 40 })), 3_000)
  const digits = few.map(([mantissa, exponent]) => Number(`${mantissa}e${exponent}`))
  return [...steps, ...middles, ...limits, ...short, ...any, ...large, ...digits].flatMap((each) => [each, -each])
}
