/** The place of an operation of a transaction in what is wrong with it (BLK-4). */
import { Fault, type Issue, issue, movedTo } from 'resourced-contract/spec/faults'

/** Issues of an operation at their places in the body of the transaction. */
export function issuesAt(index: number, issues: readonly Issue[]): Issue[] {
  const place = `/operations/${index}`
  return issues.map((each) => {
    const { pointer, header, within } = each
    if (header !== undefined) return { ...movedTo({ pointer: `${place}/if_match` }, each), header: undefined }
    const isOfBody = pointer !== undefined || within !== undefined
    return { ...each, parameter: undefined, within: isOfBody ? `${place}/body${within ?? ''}` : place }
  })
}

/** The refusal of an operation as that of its transaction. */
export function atOperation(index: number, { code, details, message, cause }: Fault): Fault {
  const { errors = [], detail = message } = details
  const given = () => issue('given', { code, message: detail })
  return new Fault(code, { ...details, errors: issuesAt(index, errors.length > 0 ? errors : [given()]) }, cause)
}
