/**
 * The part of a Dockerfile that a target is made of: buildah 1.28, Debian 12's, builds every
 * stage before it, also those of other images.
 */
export function neededStages(text, target) {
  const [head, ...stages] = text.split(/^(?=FROM )/m);
  const nameOf = stage => /^FROM \S+ AS (\S+)/.exec(stage)?.[1];
  const needed = new Set();
  const visit = name => {
    const stage = stages.find(each => nameOf(each) === name);
    if (stage === undefined || needed.has(stage)) return;
    needed.add(stage);
    for (const [, from] of stage.matchAll(/(?:^FROM |--from=)(\S+)/gm)) visit(from);
  };
  visit(target);
  return head + stages.filter(stage => needed.has(stage)).join('');
}
