/** A member of an object. Fields may be named `constructor`, which every object inherits. */
export function own<Member>(object: Readonly<Record<string, Member>>, name: string): Member | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined
}
