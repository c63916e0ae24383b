"""Operators through which no gradient passes, since their output does not change, or jumps, as their input changes.

Quantization is not among them: who trains through it passes the gradient straight on, by choice (`quantization`).
"""

from __future__ import annotations

from neural_cost.analyzer.training.registry import no_gradient, no_gradient_to

MICROSOFT, ML = "com.microsoft", "ai.onnx.ml"
JUMPS = "what it gives is constant but where it jumps"
POSITIONS = "what it gives is made of sizes, positions or fill values alone"
RANDOM = "what it gives is drawn at random"
INTEGERS = "what it gives, or is given, is integers, truth values or text"
TREES = "what it gives is constant but where a threshold is crossed"
DECODING = "it chooses tokens, which are integers"

no_gradient("Sign", "Floor", "Ceil", "Round", "Hardmax", why=JUMPS)
no_gradient("OneHot", "EyeLike", "Range", "ConstantOfShape", "Constant", "Shape", "Size", why=POSITIONS)
no_gradient("BlackmanWindow", "HannWindow", "HammingWindow", "MelWeightMatrix", "SequenceEmpty", why=POSITIONS)
no_gradient("RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", why=RANDOM)
no_gradient("Bernoulli", "Multinomial", why=RANDOM)
no_gradient("ArgMax", "ArgMin", "NonZero", "NonMaxSuppression", "IsNaN", "IsInf", why=INTEGERS)
no_gradient("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "And", "Or", "Xor", "Not", why=INTEGERS)
no_gradient("BitCast", "BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitwiseNot", why=INTEGERS)
no_gradient("OptionalHasElement", "SequenceLength", "TfIdfVectorizer", "ImageDecoder", why=INTEGERS)
no_gradient("RegexFullMatch", "StringConcat", "StringNormalizer", "StringSplit", why=INTEGERS)
no_gradient("TreeEnsemble", "TreeEnsembleClassifier", "TreeEnsembleRegressor", "Binarizer", domain=ML, why=TREES)
no_gradient("CategoryMapper", "LabelEncoder", "OneHotEncoder", domain=ML, why=INTEGERS)
no_gradient("CastMap", "DictVectorizer", "ZipMap", domain=ML, why=INTEGERS)
no_gradient("Range", domain=MICROSOFT, why=POSITIONS)
no_gradient("IsAllFinite", "MurmurHash3", "NGramHashMapping", "VarlenNGramHashMapping",
            "Tokenizer", "DynamicTimeWarping", "BifurcationDetector", "SpeculativePrefixCommit",
            domain=MICROSOFT, why=INTEGERS)  # fmt: skip
no_gradient("BeamSearch", "GreedySearch", "Sampling", "WhisperBeamSearch", domain=MICROSOFT, why=DECODING)

# These let a gradient pass, but not to a type to convert to, to sizes, regions and rates, to running statistics (a
# batch in training has its own), or to the weights of classes in a loss, which are given.
no_gradient_to("CastLike", 1)
no_gradient_to("Resize", 1, 2)
no_gradient_to("Upsample", 1)
no_gradient_to("Dropout", 1)
for _dropout in ("BiasDropout", "BitmaskBiasDropout"):
    no_gradient_to(_dropout, 3, domain=MICROSOFT)
no_gradient_to("BitmaskDropout", 1, domain=MICROSOFT)
no_gradient_to("Upsample", 1, domain="com.microsoft.nchwc")
no_gradient_to("RoiAlign", 1)
no_gradient_to("MaxRoiPool", 1)
no_gradient_to("BatchNormalization", 3, 4)
no_gradient_to("NegativeLogLikelihoodLoss", 2)
no_gradient_to("SoftmaxCrossEntropyLoss", 2)
