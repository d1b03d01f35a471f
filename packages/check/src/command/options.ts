/** The command line of the check, which is a command of `resourced` and a program of its own. */
import { type Command, Option } from 'commander'

/** An option that can be repeated; `none` describes its default. */
export const repeatable = (flags: string, description: string, none = 'none') =>
  new Option(flags, `${description}; can be repeated`)
    .default([], none)
    .argParser((value, before: readonly string[]) => [...before, value])

export function checkOptions(command: Command): Command {
  return command
    .description('Check whether an HTTP server of any kind follows the rules')
    .argument('<url>', 'Base URL of the interface, such as https://api.example.com/v1')
    .addOption(new Option('--key <key>', 'Credential to send as Authorization: Bearer').env('RESOURCED_CHECK_KEY'))
    .addOption(repeatable('--header <field>', "Header field to send with every request, such as 'X-API-Key: …'"))
    .addOption(
      new Option('--other-key <key>', 'Credential of a caller without permissions').env('RESOURCED_CHECK_OTHER_KEY'),
    )
    .option('--openapi <file>', 'File or URL of the OpenAPI document (default: searched at the usual addresses)')
    .option('--profile <file>', 'Profile file that describes the server and replaces the discovery')
    .option('--init', 'Write what the discovery finds to a profile file for editing; change nothing on the server')
    .addOption(
      repeatable(
        '--collection <name>',
        'Check only this collection, even if it looks like one that the system needs itself',
        'all that are discovered, except for those that a system needs itself',
      ),
    )
    .option('--read-only', 'Send only safe requests')
    .option('--yes', 'Create and delete records without asking for confirmation')
    .option(
      '--allow-chosen-ids',
      'Send integer ids that the checker chooses; a server that accepts one may continue its numbering from there',
    )
    .option('--only <rules>', 'Sections and rules to check, such as DEL,CON-3')
    .option('--strict', 'Exit with 1 also if a "should" or a choice of the specification does not hold')
    .option(
      '--details <rules>',
      'Check only these rules or cases, such as CON-3,MET-6/allow, and show their requests; all: every one',
    )
    .addOption(
      new Option('--format <format>', 'Format of the report')
        .choices(['text', 'json', 'junit', 'markdown', 'html'])
        .default('text'),
    )
    .option('--output <file>', 'File for the report (default: standard output)')
    .option('--save <file>', 'Save the results for a later --compare')
    .option('--compare <file>', 'Report what got better or worse since saved results')
    .option('--record <file>', 'Write all requests and responses to a HAR file, without credentials')
    .option('--seed <number>', 'Repeat the random values of an earlier run; its report shows the number')
    .option('--insecure', 'Accept any TLS certificate')
    .option('--cacert <file>', 'CA certificate to trust, PEM')
    .option('--origin <origin>', 'Origin whose web pages may read responses, to check CORS')
    .option('--concurrency <number>', 'Maximum number of concurrent requests (default: 6)')
}
