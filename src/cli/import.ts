export async function importCommand(): Promise<void> {}
