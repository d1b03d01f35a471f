/** A server that cannot be checked, or a file that cannot be used: a sentence for people, with what to do. */
export class CannotCheck extends Error {}
