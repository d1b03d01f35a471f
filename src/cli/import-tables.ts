import type { Command } from './import.ts'
export async function importTables(command: Command, collection: string | undefined): Promise<void> {
  void command
  void collection
}
