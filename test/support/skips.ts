import type { Reporter, TestModule } from 'vitest/node';

/** Says at the end which tests were left out, and why: a skip must never pass for a success. */
export default class Skips implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    for (const module of modules)
      for (const each of module.children.allTests()) {
        const result = each.result();
        if (result.state === 'skipped')
          console.warn(`SKIPPED ${each.fullName}: ${result.note ?? 'no reason given'}`);
      }
  }
}
