"""Operators through which no gradient passes, since their output does not change, or jumps, as their input changes.

What gives integers or truth values (a Shape, an ArgMax, a comparison, a Cast to int64) needs no word: a gradient is of
real numbers, and passes through no other tensor. These here give real numbers all the same.

Quantization is not among them: who trains through it passes the gradient straight on, by choice (`quantization`).
"""

from __future__ import annotations

from neural_cost.analyzer.training.registry import no_gradient, no_gradient_to

no_gradient("Sign", "Floor", "Ceil", "Round", "Hardmax")  # piecewise constant
no_gradient("OneHot", "EyeLike", "Range", "ConstantOfShape", "Constant")  # made of positions, sizes and fills
no_gradient("RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Bernoulli", "Multinomial")
no_gradient("Shape", "Size", "ArgMax", "ArgMin", "NonZero", "NonMaxSuppression", "IsNaN", "IsInf")
no_gradient("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "And", "Or", "Xor", "Not")
no_gradient("BitCast", "BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitwiseNot", "OptionalHasElement")
no_gradient("BlackmanWindow", "HannWindow", "HammingWindow", "MelWeightMatrix", "TfIdfVectorizer", "SequenceLength")
no_gradient("SequenceEmpty", "ImageDecoder", "RegexFullMatch", "StringConcat", "StringNormalizer", "StringSplit")
no_gradient(
    "TreeEnsemble", "TreeEnsembleClassifier", "TreeEnsembleRegressor", "Binarizer", "CategoryMapper", "LabelEncoder",
    "OneHotEncoder", "CastMap", "DictVectorizer", "ZipMap",
    domain="ai.onnx.ml",
)  # fmt: skip
no_gradient("Range", "IsAllFinite", "MurmurHash3", "NGramHashMapping", "NGramRepeatBlock", domain="com.microsoft")
no_gradient("Tokenizer", "BeamSearch", "GreedySearch", "Sampling", "WhisperBeamSearch", domain="com.microsoft")

# These let a gradient pass, but not to a type to convert to, to sizes, regions and rates, to running statistics (a
# batch in training has its own), or to the weights of classes in a loss, which are given.
no_gradient_to("CastLike", 1)
no_gradient_to("Resize", 1, 2)
no_gradient_to("Upsample", 1)
no_gradient_to("Dropout", 1)
no_gradient_to("RoiAlign", 1)
no_gradient_to("MaxRoiPool", 1)
no_gradient_to("BatchNormalization", 3, 4)
no_gradient_to("NegativeLogLikelihoodLoss", 2)
no_gradient_to("SoftmaxCrossEntropyLoss", 2)
