import { UsageError } from '../operate/command.ts';

const RELEASES = '<!-- releases -->\n';

/**
 * Returns the changelog of the contract with a new release before the others, or added to that of the same day.
 *
 * @param day of the release, `YYYY-MM-DD`
 * @param changes sentences in Markdown that tell clients what has changed
 * @throws UsageError if a change is empty.
 */
export function withRelease(changelog: string, day: string, changes: readonly string[]): string {
  const [introduction, releases = ''] = changelog.split(RELEASES);
  if (changes.some((change) => change.trim() === '')) {
    throw new UsageError('--release takes a sentence that tells clients what has changed.');
  }
  const list = changes.map((change) => `- ${change.trim()}\n`).join('');
  const heading = `\n## ${day}\n\n`;
  const earlier = releases.startsWith(heading) ? releases.slice(heading.length) : releases;
  return `${introduction}${RELEASES}${heading}${list}${earlier}`;
}
