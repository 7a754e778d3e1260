// What the parts of a score are called, and what they say to a person.

const ROADS = {
  keyword: ["Words", "the words you typed, weighed by how rare they are"],
  vector: ["Meaning", "what the passage says, however it is put"],
  trigram: ["Spelling", "words that look like those you typed"],
  likeness: ["Company", "how much it resembles the best results"],
  memory: ["Memory", "something that was remembered"],
  semantic: ["Wording", "how much of your wording the entry shares"],
  severity: ["Severity", "how serious the entry is"],
  temporalDecay: ["Age", "how recent it is, or how long it stays valid"],
  tagOverlap: ["Tags", "tags that you prefer"],
  domainMatch: ["Domain", "the domain that you prefer"],
};

const COLOURS = {
  keyword: "words",
  semantic: "words",
  vector: "meaning",
  trigram: "spelling",
  likeness: "company",
};

/** With several libraries a road stands behind the tier's name: `team:keyword`. */
const bare = (name) => name.split(":").at(-1);

export function roadLabel(name) {
  const [label] = ROADS[bare(name)] ?? [bare(name)];
  const tier = name.includes(":") ? `${name.split(":")[0]} ` : "";
  return tier + label;
}

export const roadSense = (name) => ROADS[bare(name)]?.[1] ?? "";

export const roadClass = (name) => COLOURS[bare(name)] ?? "other";
