export default { name: "not a suite" };
