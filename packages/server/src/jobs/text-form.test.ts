import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dateForm, numberForm } from './text-form.ts'

const numbers: readonly (readonly [sample: string, text: string, expected: string | undefined])[] = [
  ['1.234,50', '12.345,6', '12345.6'],
  ['1.234,50', '1.234.567', '1234567'],
  ['1.234,50', '0,99', '0.99'],
  ['1.234,50', '-1.000,00', '-1000.00'],
  ['1.234,50', '1234,5', '1234.5'],
  ['1.234,50', '1.23', undefined],
  ['1.234,50', '1,234.50', undefined],
  ['1,234.50', '1,5', undefined],
  ['1,234.50', '1,234,5', undefined],
  ['1,234.50', '1,234.50', '1234.50'],
  ['1 234,50', '1\u00a0234,5', '1234.5'],
  ['1 234,50', '1\u202f234\u202f567', '1234567'],
  ["1'234.50", '1’234.50', '1234.50'],
  ['1234.50', ' 39.81 ', '39.81'],
  ['1234.50', '−17.05', '-17.05'],
  ['1234', '1.5', undefined],
  ['1.234,50', '007', undefined],
  ['1.234,50', '', undefined],
  ['1.234,50', '12 kg', undefined],
]
for (const [sample, text, expected] of numbers) {
  test(`a number in the form ${sample}: ${JSON.stringify(text)} is ${expected}`, () => {
    assert.equal(numberForm(sample)?.(text), expected)
  })
}

test('a sample that is not the number 1234 says nothing', () => {
  for (const sample of ['', '12,50', '1,234,50', '1.234.5', '#,##0.00', '1234,50 €', '1x234']) {
    assert.equal(numberForm(sample), undefined, sample)
  }
})

const dates: readonly (readonly [pattern: string, text: string, hasTime: boolean, expected: string | undefined])[] = [
  ['DD.MM.YYYY', '31.12.2019', false, '2019-12-31'],
  ['DD.MM.YYYY', '1.2.2020', false, undefined],
  ['D.M.YYYY', '1.2.2020', false, '2020-02-01'],
  ['DD.MM.YYYY', '31.02.2019', false, undefined],
  ['DD.MM.YYYY', '29.02.2000', false, '2000-02-29'],
  ['DD.MM.YYYY', '29.02.1900', false, undefined],
  ['MMM D YYYY', 'Jan 1 2000', false, '2000-01-01'],
  ['MMM D YYYY', 'sept. 30 1999', false, '1999-09-30'],
  ['MMM D YYYY', 'Ja 1 2000', false, undefined],
  ['MMM D YYYY', 'Jux 1 2000', false, undefined],
  ['D MMMM YYYY', '5 December 2021', false, '2021-12-05'],
  ['M/D/YYYY', '12/31/2019', false, '2019-12-31'],
  ['M/D/YYYY', '31/12/2019', false, undefined],
  ['DD.MM.YYYY HH:mm', '31.12.2019 07:05', false, '2019-12-31'],
  ['DD.MM.YYYY HH:mm', '31.12.2019 07:05', true, '2019-12-31T07:05:00Z'],
  ['YYYY-MM-DDTHH:mm:ssZ', '2019-12-31T07:05:09+0130', true, '2019-12-31T07:05:09+01:30'],
  ['DD.MM.YYYY', '31.12.2019', true, '2019-12-31T00:00:00Z'],
]
for (const [pattern, text, hasTime, expected] of dates) {
  test(`a ${hasTime ? 'date-time' : 'date'} in the form ${pattern}: ${text} is ${expected}`, () => {
    assert.equal(dateForm(pattern, hasTime)?.(text), expected)
  })
}

test('a pattern without a whole date, or with other letters, says nothing', () => {
  for (const pattern of ['', 'DD.MM.', 'DD.MM.YY', 'YYYY-MM-DD YYYY', 'dd.mm.yyyy', 'YYYY-DDD', 'day D.M.YYYY']) {
    assert.equal(dateForm(pattern, false), undefined, pattern)
  }
})
