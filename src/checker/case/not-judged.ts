/** Errors that end a case without a judgement. */

/** A case cannot go on: something that it only prepares did not come about. */
export class NotSetUp extends Error {}

/** What a case is about is not there, as answers have shown. */
export class NotApplicable extends Error {}
